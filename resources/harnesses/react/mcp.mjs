/**
 * Clients of MCP servers: `stdio` starts the server and speaks JSON-RPC by lines, `http` is Streamable HTTP (2025-06-18), `sse` the older
 * HTTP with one stream of events for all answers. All give `{ tools, call(tool, arguments), close() }`, and fail with a sentence that names
 * the server.
 */
import { spawn } from "node:child_process";
import http from "node:http";
import https from "node:https";
import { createInterface } from "node:readline";

const protocolVersion = "2025-06-18";
/** For one answer of a server over HTTP: a tool may work for long. */
const answerMs = 600_000;

/** `server`: `{ command, args }`, or `{ type: "http" | "sse", url, headers }`. */
export async function openMcpServer(name, server, workdir) {
  const wire =
    server.url === undefined ? overStdio(name, server, workdir) : server.type === "sse" ? overEvents(name, server) : overHttp(name, server);
  try {
    await wire.ask("initialize", { protocolVersion, capabilities: {}, clientInfo: { name: "react", version: "1.0.0" } });
    await wire.tell("notifications/initialized");
    const tools = [];
    let cursor;
    do {
      const page = await wire.ask("tools/list", cursor === undefined ? {} : { cursor });
      tools.push(...page.tools);
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    return { tools, call: async (tool, given) => textOf(await wire.ask("tools/call", { name: tool, arguments: given })), close: wire.close };
  } catch (error) {
    wire.close();
    throw error;
  }
}

function textOf({ content, isError }) {
  const parts = (content ?? []).map((part) => (part.type === "text" ? part.text : `[${part.type}]`));
  return `${isError ? "Error: " : ""}${parts.join("\n") || "(no output)"}`;
}

/** Numbers questions and hands each answer to who asked. `send(message)` brings one message to the server. */
function conversation(send) {
  const waiting = new Map();
  let lastId = 0;
  let over = null;
  return {
    ask: (method, params) =>
      new Promise((resolve, reject) => {
        if (over !== null) return reject(over);
        lastId += 1;
        waiting.set(lastId, { resolve, reject });
        Promise.resolve(send({ jsonrpc: "2.0", id: lastId, method, params })).catch(reject);
      }),
    tell: (method) => send({ jsonrpc: "2.0", method }),
    hear(message) {
      if (message.method !== undefined) {
        // We offer nothing to servers; a ping is answered, any other question is refused.
        const reply = message.method === "ping" ? { result: {} } : { error: { code: -32601, message: "not offered" } };
        if (message.id !== undefined) Promise.resolve(send({ jsonrpc: "2.0", id: message.id, ...reply })).catch(() => undefined);
        return;
      }
      const asked = waiting.get(message.id);
      waiting.delete(message.id);
      if (message.error !== undefined) asked?.reject(new Error(message.error.message));
      else asked?.resolve(message.result);
    },
    end(error) {
      over ??= error;
      for (const { reject } of waiting.values()) reject(over);
      waiting.clear();
    },
  };
}

function overStdio(name, { command, args = [] }, workdir) {
  const child = spawn(command, args, { cwd: workdir, stdio: ["pipe", "pipe", "inherit"] });
  const talk = conversation((message) => child.stdin.write(`${JSON.stringify(message)}\n`));
  const end = (reason) => talk.end(new Error(`MCP server ${name} ${reason}`));
  child.once("error", (error) => end(`could not be started: ${error.message}`));
  child.once("exit", (code) => end(`ended with exit code ${code ?? "unknown"}`));
  child.stdin.on("error", (error) => end(`cannot be written to: ${error.message}`));
  createInterface({ input: child.stdout }).on("line", (line) => {
    // Some servers print a greeting.
    const message = parsed(line);
    if (message !== null) talk.hear(message);
  });
  return { ...talk, close: () => child.kill("SIGKILL") };
}

/** Every message is a POST; its answer is JSON, or a stream of events that ends with it. */
function overHttp(name, { url, headers = {} }) {
  const stop = new AbortController();
  let session = {};
  const post = async (message) => {
    const sent = { ...headers, ...session, "content-type": "application/json", accept: "application/json, text/event-stream" };
    const response = await request(name, url, { method: "POST", headers: sent, body: JSON.stringify(message), signal: stop.signal });
    const id = response.headers["mcp-session-id"];
    if (id !== undefined) session = { "mcp-session-id": id, "mcp-protocol-version": protocolVersion };
    if (String(response.headers["content-type"]).startsWith("text/event-stream")) {
      for await (const { data } of eventsOf(response)) hearAll(data);
    } else hearAll(await textFrom(response));
    // Whoever asked for what was not answered would wait for ever.
    if (message.id !== undefined) talk.hear({ id: message.id, error: { message: `MCP server ${name} gave no answer` } });
  };
  const talk = conversation(post);
  const hearAll = (text) => [parsed(text) ?? []].flat().forEach(talk.hear);
  return { ...talk, close: () => stop.abort() };
}

/** One GET stays open and brings all answers; its first event says where messages are posted to. */
function overEvents(name, { url, headers = {} }) {
  const stop = new AbortController();
  let place = null;
  const opened = new Promise((resolve) => {
    place = resolve;
  });
  const talk = conversation(async (message) => {
    const to = await opened;
    if (to instanceof Error) throw to;
    const sent = { ...headers, "content-type": "application/json" };
    await textFrom(await request(name, to, { method: "POST", headers: sent, body: JSON.stringify(message), signal: stop.signal }));
  });
  const listen = async () => {
    const response = await request(name, url, { method: "GET", headers: { ...headers, accept: "text/event-stream" }, signal: stop.signal });
    for await (const { event, data } of eventsOf(response)) {
      if (event === "endpoint") place(new URL(data, url).href);
      else {
        const message = parsed(data);
        if (message !== null) talk.hear(message);
      }
    }
    throw new Error(`MCP server ${name} closed its stream`);
  };
  listen().catch((error) => {
    place(error);
    talk.end(error);
  });
  return { ...talk, close: () => stop.abort() };
}

/** Resolves with the response's head when it is a good one. */
function request(name, address, { method, headers, body, signal }) {
  const url = new URL(address);
  const client = url.protocol === "https:" ? https : http;
  return new Promise((resolve, reject) => {
    const fail = (reason) => reject(new Error(`MCP server ${name} at ${address} ${reason}`));
    const asked = client.request(url, { method, headers, agent: false, signal }, async (response) => {
      if (response.statusCode >= 200 && response.statusCode < 300) return resolve(response);
      const said = await textFrom(response).catch(() => "");
      fail(`said ${response.statusCode}: ${said.slice(0, 300)}`);
    });
    asked.on("error", (error) => fail(`cannot be reached: ${error.message}`));
    if (method === "POST") asked.setTimeout(answerMs, () => asked.destroy(new Error(`no answer within ${answerMs / 1000} s`)));
    asked.end(body);
  });
}

async function textFrom(response) {
  const chunks = [];
  for await (const chunk of response) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

/** Server-sent events as they come: blocks of lines, with any line end and cuts anywhere. */
async function* eventsOf(response) {
  response.setEncoding("utf8");
  let event = { event: "message", data: [] };
  for await (const line of createInterface({ input: response, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line === "") {
      if (event.data.length > 0) yield { ...event, data: event.data.join("\n") };
      event = { event: "message", data: [] };
    }
    const [, field, value] = /^([a-z]+): ?(.*)$/.exec(line) ?? [];
    if (field === "event") event.event = value;
    if (field === "data") event.data.push(value);
  }
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
