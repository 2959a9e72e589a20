/** The reference agent as a program, against a small chat endpoint that answers what the test says. */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { startMcpStandIn } from "./mcp-server.test-data.ts";

interface ChatRequest {
  readonly messages: readonly { role: string; content: string | null; tool_calls?: readonly unknown[]; tool_call_id?: string }[];
  readonly tools?: readonly { function: { name: string } }[];
  readonly stream?: boolean;
}
type Reply = (request: ChatRequest, response: ServerResponse) => void;

const agent = join(import.meta.dirname, "../../resources/harnesses/react/react.mjs");
const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

function says(message: object, finishReason = "stop", promptTokens = 10): Reply {
  return (_request, response) => {
    response.setHeader("content-type", "application/json");
    const body = {
      choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason: finishReason }],
      usage: { prompt_tokens: promptTokens, completion_tokens: 5 },
    };
    response.end(JSON.stringify(body));
  };
}
function calls(name: string, argumentsText: string, id = "c1"): object {
  return { content: null, tool_calls: [{ id, type: "function", function: { name, arguments: argumentsText } }] };
}
const bash = (command: string): Reply => says(calls("bash", JSON.stringify({ command })), "tool_calls");
function fails(status: number, error: object): Reply {
  return (_request, response) => {
    response.statusCode = status;
    response.end(JSON.stringify({ error }));
  };
}

async function runAgent(replies: readonly Reply[], settings: object = {}, task = "Do it.") {
  const folder = mkdtempSync(join(tmpdir(), "react-"));
  const requests: { body: ChatRequest; bytes: string }[] = [];
  const server = createServer((request: IncomingMessage, response) => {
    let text = "";
    request.on("data", (chunk) => {
      text += chunk;
    });
    request.on("end", () => {
      const body = JSON.parse(text) as ChatRequest;
      requests.push({ body, bytes: text });
      const reply = replies[Math.min(requests.length, replies.length) - 1];
      reply?.(body, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(() => {
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const config = join(folder, "config.json");
  writeFileSync(config, JSON.stringify({ baseUrl, key: "k", model: "m", workdir: folder, logFolder: folder, ...settings }));
  const child = spawn(process.execPath, [agent, "--config", config, "--task", task], { stdio: ["ignore", "pipe", "pipe"] });
  let stderr = "";
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  const exitCode = await new Promise<number | null>((resolve) => child.once("close", resolve));
  const read = (name: string): string => readFileSync(join(folder, name), "utf8");
  return { exitCode, stderr, folder, read, requests, last: requests.at(-1)?.body };
}

test("runs commands until the model answers in words", async () => {
  const run = await runAgent([bash("echo one > a.txt; cat a.txt; exit 3"), says({ content: "Done." })]);
  expect(run.exitCode).toBe(0);
  expect(run.read("final.txt")).toBe("Done.");
  expect(run.read("a.txt")).toBe("one\n");
  expect(run.last?.messages.map((message) => message.role)).toEqual(["system", "user", "assistant", "tool"]);
  expect(run.last?.messages[3]).toEqual({ role: "tool", tool_call_id: "c1", content: "one\n[exit 3]" });
});

test("sends back what the model said byte for byte, reasoning included", async () => {
  const said = { ...calls("bash", '{ "command" :  "true"}'), content: "  First\n", reasoning_content: "hm" };
  const run = await runAgent([says(said, "tool_calls"), says({ content: "Done." })]);
  expect(run.last?.messages[2]).toEqual({ role: "assistant", ...said });
  expect(run.last?.messages[3]?.content).toBe("(no output)");
});

test("cuts a long result visibly and between characters", async () => {
  const run = await runAgent([bash("printf '123456789%s' '😀😀😀'"), says({ content: "Done." })], { resultLimit: 10 });
  expect(run.last?.messages[3]?.content).toBe("123456789\n[6 of 15 characters cut]");
});

test("several calls of one answer are run in order", async () => {
  const call = (id: string, command: string) => ({ id, type: "function", function: { name: "bash", arguments: JSON.stringify({ command }) } });
  const both = { content: null, tool_calls: [call("a", "sleep 0.2; echo x >> log"), call("b", "echo y >> log; cat log")] };
  const run = await runAgent([says(both, "tool_calls"), says({ content: "Done." })]);
  expect(run.last?.messages.slice(3)).toEqual([
    { role: "tool", tool_call_id: "a", content: "(no output)" },
    { role: "tool", tool_call_id: "b", content: "x\ny" },
  ]);
});

test("calls that cannot be run are told to the model", async () => {
  const run = await runAgent([
    says(calls("bash", '{"command":'), "tool_calls"),
    says(calls("nothing", "{}", "c2"), "tool_calls"),
    says(calls("bash", '{"cmd":"ls"}', "c3"), "tool_calls"),
    says(calls("bash", '{"command":"touch cut.txt"}', "c4"), "length"),
    says({ content: "Done." }),
  ]);
  const results = run.last?.messages.filter((message) => message.role === "tool").map((message) => message.content);
  expect(results?.[0]).toMatch(/^The arguments are not valid JSON/);
  expect(results?.[1]).toBe("There is no tool called nothing. The tools are: bash.");
  expect(results?.[2]).toBe("The argument `command` is missing or is not a text.");
  expect(results?.[3]).toMatch(/was not run/);
  expect(() => run.read("cut.txt")).toThrow();
});

test("a failure that can pass is tried again with equal bytes; one that cannot ends the run", async () => {
  const run = await runAgent([fails(500, { message: "down" }), (_request, response) => response.destroy(), says({ content: "Done." })]);
  expect(run.exitCode).toBe(0);
  expect(new Set(run.requests.map((request) => request.bytes)).size).toBe(1);
  expect(run.requests).toHaveLength(3);
  const refused = await runAgent([fails(400, { message: "no such model" })]);
  expect(refused).toMatchObject({ exitCode: 3, stderr: "The model endpoint said 400: no such model\n" });
  expect(refused.requests).toHaveLength(1);
});

test("an answer that does not come in time is given up and asked for again", async () => {
  const slow: Reply = (_request, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.write(" ");
  };
  const run = await runAgent([slow, says({ content: "Done." })], { answerSeconds: 1 });
  expect(run.exitCode).toBe(0);
  expect(run.requests[0]?.bytes).toBe(run.requests[1]?.bytes);
});

test("reads a stream as it reads a whole answer", async () => {
  const piece = (delta: object, finish: string | null = null) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\r\n\r\n`;
  const streamed: Reply = (_request, response) => {
    response.setHeader("content-type", "text/event-stream");
    response.write(
      `: keepalive\r\n\r\n${piece({ role: "assistant", reasoning_content: "hm" })}${piece({ content: "Loo" })}${piece({ content: "king" })}`,
    );
    response.write(piece({ tool_calls: [{ index: 0, id: "c1", function: { name: "bash", arguments: '{"command":' } }] }));
    response.write(piece({ tool_calls: [{ index: 0, function: { arguments: '"echo hi"}' } }] }));
    response.write(piece({ tool_calls: [{ index: 0, id: "c2", function: { name: "bash", arguments: '{"command":"echo ho"}' } }] }));
    response.write(`${piece({}, "tool_calls")}data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}\r\n\r\n`);
    response.end("data: [DONE]\r\n\r\n");
  };
  const cut: Reply = (_request, response) => {
    response.setHeader("content-type", "text/event-stream");
    response.end(piece({ content: "half an ans" }));
  };
  const run = await runAgent([streamed, cut, says({ content: "Done." })], { stream: true });
  expect(run.exitCode).toBe(0);
  const [, , assistant, first, second] = run.last?.messages ?? [];
  expect(assistant).toMatchObject({ content: "Looking", reasoning_content: "hm" });
  expect([first?.content, second?.content]).toEqual(["hi", "ho"]);
  expect(run.requests[1]?.bytes).toBe(run.requests[2]?.bytes);
});

test("compacts near the window and after the endpoint says that the context is full", async () => {
  const near = says(calls("bash", '{"command":"echo one"}'), "tool_calls", 90);
  const overflow = fails(400, { message: "maximum context length is 100 tokens", code: "context_length_exceeded" });
  const again = says(calls("bash", '{"command":"echo two"}'), "tool_calls", 20);
  const run = await runAgent([near, says({ content: "SUMMARY 1" }), again, overflow, says({ content: "SUMMARY 2" }), says({ content: "Done." })], {
    contextWindow: 100,
  });
  expect(run.exitCode).toBe(0);
  expect(run.requests[1]?.body.tools).toBeUndefined();
  expect(run.requests[1]?.body.messages.at(-1)?.content).toMatch(/^Summarise/);
  expect(run.requests[2]?.body.messages.map((message) => message.role)).toEqual(["system", "user"]);
  expect(run.last?.messages[1]?.content).toBe("Do it.\n\nDone so far (summary of earlier work):\nSUMMARY 2");
});

test("offers the tools of MCP servers and runs them", async () => {
  const folder = mkdtempSync(join(tmpdir(), "react-mcp-"));
  closers.push(() => rmSync(folder, { recursive: true, force: true }));
  const server = join(folder, "server.mjs");
  writeFileSync(
    server,
    `import { createInterface } from "node:readline";
     console.log("hello, I am a server");
     const say = (id, result) => console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
     createInterface({ input: process.stdin }).on("line", (line) => {
       const { id, method, params } = JSON.parse(line);
       if (method === "initialize") say(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } });
       if (method === "tools/list") params.cursor ? say(id, { tools: [{ name: "bash", inputSchema: { type: "object" } }] }) : say(id, { nextCursor: "n", tools: [{ name: "add.one", inputSchema: { type: "object" } }] });
       if (method === "tools/call") say(id, { content: [{ type: "text", text: params.name + JSON.stringify(params.arguments) }], isError: params.name === "bash" });
     });`,
  );
  const run = await runAgent(
    [says(calls("add_one", '{"n":1}'), "tool_calls"), says(calls("lab__bash", "{}", "c2"), "tool_calls"), says({ content: "Done." })],
    {
      mcpServers: { lab: { command: process.execPath, args: [server] } },
    },
  );
  expect(run.last?.tools?.map((tool) => tool.function.name)).toEqual(["bash", "add_one", "lab__bash"]);
  const results = run.last?.messages.filter((message) => message.role === "tool").map((message) => message.content);
  expect(results).toEqual(['add.one{"n":1}', "Error: bash{}"]);
});

test.each([
  ["http", "/mcp"],
  ["sse", "/sse"],
] as const)("reaches MCP servers by %s, and says why one refuses", async (type, path) => {
  const lab = await startMcpStandIn("open");
  closers.push(() => lab.close());
  const server = { type, url: `${lab.url}${path}`, headers: { "x-lab-key": "open" } };
  const run = await runAgent([says(calls("weigh", '{"thing":"plum"}'), "tool_calls"), says({ content: "Done." })], { mcpServers: { lab: server } });
  expect(run.last?.messages.filter((message) => message.role === "tool").map((message) => message.content)).toEqual(["It weighs 4217 g."]);
  expect(lab.heard).toEqual(["initialize", "notifications/initialized", "tools/list", "tools/call plum"]);
  const refused = await runAgent([says({ content: "Done." })], { mcpServers: { lab: { ...server, headers: {} } } });
  expect(refused).toMatchObject({ exitCode: 3, stderr: `MCP server lab at ${server.url} said 401: no key\n` });
  lab.close();
  const gone = await runAgent([says({ content: "Done." })], { mcpServers: { lab: server } });
  expect(gone).toMatchObject({ exitCode: 3, stderr: expect.stringContaining(`MCP server lab at ${server.url} cannot be reached: `) });
});

test("a command that outlives its time, a child that keeps the output open, a limit of turns", async () => {
  const run = await runAgent([bash("sleep 60"), bash("sleep 60 & echo started"), bash("true")], { bashSeconds: 3, maxTurns: 3 });
  expect(run.exitCode).toBe(4);
  const results = run.last?.messages.filter((message) => message.role === "tool").map((message) => message.content);
  expect(results).toEqual(["[stopped after 3 s]", "started"]);
});

test("an MCP server that cannot be started is one clear sentence", async () => {
  const run = await runAgent([says({ content: "Done." })], { mcpServers: { lab: { command: "/no/such/program" } } });
  expect(run).toMatchObject({ exitCode: 3, stderr: "MCP server lab could not be started: spawn /no/such/program ENOENT\n" });
});
