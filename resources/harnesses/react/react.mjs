#!/usr/bin/env node
/**
 * react: the workbench's own reference agent. One loop, after "ReAct: Synergizing Reasoning and Acting in Language Models":
 * the model says what to do, the tools do it, the model sees the result, until it answers without a tool call.
 *
 *   node react.mjs --config FILE [--task TEXT | --task-file FILE]      (else the task is read from standard input)
 *   node react.mjs --resident                                         (many tasks one after the other: resident.mjs)
 *
 * Speaks OpenAI Chat Completions. Tools: `bash`, and every tool of the MCP servers in the configuration (mcp.mjs).
 * Writes the answer to `final.txt` and what happened to `react.jsonl` in the log folder. Exit codes: 0 the model ended,
 * 2 wrong usage, 3 the model endpoint failed, 4 the limit of turns was reached.
 *
 * Everything one task needs is in `runSession`; it keeps nothing outside, so that one process can serve many tasks.
 */
import { spawn } from "node:child_process";
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import http from "node:http";
import https from "node:https";
import { constants } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openMcpServer } from "./mcp.mjs";
import { serve } from "./resident.mjs";

const defaults = {
  baseUrl: "",
  key: "",
  model: "",
  system: "You are an agent in a shell. Use the tools to do the task. When it is done, answer in words, without a tool call.",
  workdir: process.cwd(),
  logFolder: "/logs/agent",
  /** Ask for a stream. */
  stream: false,
  maxTurns: 50,
  /** Tokens of one answer. */
  maxTokens: 8192,
  /** null = the policy's own. */
  temperature: null,
  contextWindow: 128_000,
  /** Compact the history when this share of the context window is used; 0 = never. */
  compactAt: 0.8,
  /** Characters of a tool result that the model sees; the rest is cut, and the cut is said. */
  resultLimit: 16_000,
  /** Seconds of one bash command. */
  bashSeconds: 120,
  /** Seconds after which a call without a whole answer is given up and sent again; 0 = never. */
  answerSeconds: 0,
  /** Tries of one model call when the endpoint fails. */
  tries: 6,
  /** `{ name: { command, args } }` or `{ name: { type: "http" | "sse", url, headers } }`. */
  mcpServers: {},
};

const bashTool = {
  type: "function",
  function: {
    name: "bash",
    description: "Runs a command in a new bash and returns what it prints, with its exit code when that is not 0.",
    parameters: { type: "object", properties: { command: { type: "string" } }, required: ["command"] },
  },
};

/** Does one task. `events` is told what happens, `shell` runs commands; resolves with how it ended and the final text. */
export async function runSession(settings, task, { events, signal, shell = runHere }) {
  const config = { ...defaults, ...settings };
  const tools = await openTools(config, shell);
  try {
    const first = [
      { role: "system", content: config.system },
      { role: "user", content: task },
    ];
    let messages = [...first];
    for (let turn = 1; turn <= config.maxTurns; turn++) {
      let answer;
      try {
        answer = await askModel(config, { messages, tools: tools.definitions }, { events, signal });
      } catch (error) {
        if (!(error instanceof ContextOverflow) || config.compactAt === 0 || messages.length <= first.length) throw error;
        messages = await compact(config, first, withoutLastTurn(messages, first.length), { events, signal });
        continue;
      }
      messages.push(answer.message);
      const calls = answer.message.tool_calls ?? [];
      if (calls.length === 0) return { ended: "answered", text: answer.message.content ?? "" };
      // One after the other: they share a workspace, and a run that is driven again must do the same.
      for (const call of calls) {
        const whole = answer.finishReason !== "length";
        const result = whole ? await tools.run(call, signal) : "The answer was cut at its token limit, so this call was not run. Send a shorter one.";
        events({ type: "tool", turn, name: call.function.name, arguments: call.function.arguments, result });
        messages.push({ role: "tool", tool_call_id: call.id, content: cutText(result, config.resultLimit) });
      }
      const used = (answer.usage?.prompt_tokens ?? 0) + (answer.usage?.completion_tokens ?? 0);
      if (config.compactAt > 0 && used > config.compactAt * config.contextWindow) {
        messages = await compact(config, first, messages, { events, signal });
      }
    }
    return { ended: "turn-limit", text: "" };
  } finally {
    tools.close();
  }
}

// --- The model ---------------------------------------------------------------------------------------------------------

class ModelFailure extends Error {}
class ContextOverflow extends ModelFailure {}

/** One call, with its retries: the same body again after a failure that can pass. */
async function askModel(config, { messages, tools }, { events, signal }) {
  const body = { model: config.model, messages, max_tokens: config.maxTokens };
  if (tools.length > 0) body.tools = tools;
  if (config.temperature !== null) body.temperature = config.temperature;
  if (config.stream) Object.assign(body, { stream: true, stream_options: { include_usage: true } });
  const bytes = Buffer.from(JSON.stringify(body));
  for (let tried = 1; ; tried++) {
    try {
      const answer = await postOnce(config, bytes, signal);
      events({ type: "answer", tried, ...answer });
      return answer;
    } catch (error) {
      if (signal?.aborted || error.final || tried >= config.tries) throw error;
      events({ type: "retry", tried, message: error.message });
      await pause(error.retryAfterMs ?? Math.min(500 * 2 ** (tried - 1), 8000), signal);
    }
  }
}

/** Sends one request on a connection of its own, with no time limit but the one that was set. */
function postOnce(config, bytes, signal) {
  const url = new URL(`${config.baseUrl.replace(/\/$/, "")}/chat/completions`);
  const headers = { "content-type": "application/json", "content-length": bytes.length, authorization: `Bearer ${config.key}` };
  return new Promise((resolve, reject) => {
    const client = url.protocol === "https:" ? https : http;
    let timer;
    const request = client.request(url, { method: "POST", headers, agent: false, ...(signal ? { signal } : {}) }, (response) => {
      const chunks = [];
      response.on("data", (chunk) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        try {
          const text = Buffer.concat(chunks).toString("utf8");
          if (response.statusCode !== 200) throw refusal(response.statusCode, response.headers, text);
          const isStream = String(response.headers["content-type"]).startsWith("text/event-stream");
          resolve(isStream ? readStream(text) : readAnswer(JSON.parse(text)));
        } catch (error) {
          reject(error);
        }
      });
    });
    request.on("error", reject);
    request.on("close", () => clearTimeout(timer));
    const giveUp = () => request.destroy(new ModelFailure(`No answer within ${config.answerSeconds} s.`));
    if (config.answerSeconds > 0) timer = setTimeout(giveUp, config.answerSeconds * 1000);
    request.end(bytes);
  });
}

function refusal(status, headers, text) {
  let told = text.slice(0, 500);
  let code = null;
  try {
    const { error } = JSON.parse(text);
    told = error?.message ?? told;
    code = error?.code ?? null;
  } catch {
    // The body is not JSON; its text is said as it is.
  }
  const overflow = code === "context_length_exceeded" || /context (length|window)|maximum context/i.test(told);
  const failure = new (overflow ? ContextOverflow : ModelFailure)(`The model endpoint said ${status}: ${told}`);
  failure.final = status < 500 && status !== 429 && status !== 408;
  const wait = Number(headers["retry-after"]);
  if (headers["retry-after"] !== undefined && Number.isFinite(wait)) failure.retryAfterMs = wait * 1000;
  return failure;
}

function readAnswer(json) {
  const choice = json.choices?.[0];
  if (choice?.message === undefined) throw new ModelFailure("The model endpoint gave an answer without a message.");
  return { message: asAssistant(choice.message), finishReason: choice.finish_reason ?? "stop", usage: json.usage ?? null };
}

/** Server-sent events: blocks of lines, each block's `data` lines joined. */
function readStream(text) {
  const message = { content: "", reasoning_content: "", tool_calls: [] };
  let finishReason = null;
  let usage = null;
  for (const block of text.split(/\r\n\r\n|\n\n|\r\r/)) {
    const lines = block.split(/\r\n|\n|\r/).filter((line) => line.startsWith("data:"));
    const data = lines.map((line) => line.slice(5).replace(/^ /, "")).join("\n");
    if (data === "" || data === "[DONE]") continue;
    const event = JSON.parse(data);
    if (event.error !== undefined) throw new ModelFailure(`The model endpoint said: ${event.error.message}`);
    usage = event.usage ?? usage;
    const choice = event.choices?.[0];
    if (choice === undefined) continue;
    finishReason = choice.finish_reason ?? finishReason;
    const delta = choice.delta ?? {};
    message.content += delta.content ?? "";
    message.reasoning_content += delta.reasoning_content ?? "";
    for (const part of delta.tool_calls ?? []) addCallPart(message.tool_calls, part);
  }
  if (finishReason === null) throw new ModelFailure("The answer was cut before its end.");
  return { message: asAssistant(message), finishReason, usage };
}

/** A part with an id that is not yet known begins a call; any other goes on with the call of its index. */
function addCallPart(calls, part) {
  let call = calls.findLast((known) => known.index === (part.index ?? 0));
  if (call === undefined || (part.id && part.id !== call.id)) {
    call = { index: part.index ?? 0, id: part.id ?? `call_${calls.length}`, type: "function", function: { name: "", arguments: "" } };
    calls.push(call);
  }
  call.function.name += part.function?.name ?? "";
  call.function.arguments += part.function?.arguments ?? "";
}

/** The message as it goes back into the history: what the model said, unchanged, and nothing else. */
function asAssistant({ content, reasoning_content, tool_calls }) {
  const message = { role: "assistant", content: content || (tool_calls?.length ? null : "") };
  if (reasoning_content) message.reasoning_content = reasoning_content;
  if (tool_calls?.length) message.tool_calls = tool_calls.map((call) => ({ id: call.id, type: "function", function: { ...call.function } }));
  return message;
}

// --- The context ---------------------------------------------------------------------------------------------------------

const summaryRequest = "Summarise for your own further work, briefly: what was done so far, what was found, and what is left to do.";

/** Asks for a summary of the history and starts again from task and summary. */
async function compact(config, first, messages, tell) {
  const asked = [...messages, { role: "user", content: summaryRequest }];
  const { message } = await askModel(config, { messages: asked, tools: [] }, tell);
  tell.events({ type: "compaction", from: messages.length });
  const [system, task] = first;
  return [system, { role: "user", content: `${task.content}\n\nDone so far (summary of earlier work):\n${message.content}` }];
}

/** The history up to before its last assistant turn, which made it too long. */
function withoutLastTurn(messages, least) {
  const at = messages.findLastIndex((message) => message.role === "assistant");
  return at < least ? messages.slice(0, least) : messages.slice(0, at);
}

/** The first `limit` characters and one line that says what is missing. Never cuts inside a character. */
function cutText(text, limit) {
  if (text.length <= limit) return text;
  const end = /[\ud800-\udbff]/.test(text[limit - 1]) ? limit - 1 : limit;
  return `${text.slice(0, end)}\n[${text.length - end} of ${text.length} characters cut]`;
}

// --- The tools -----------------------------------------------------------------------------------------------------------

/** Bash and all MCP tools under one name each. A call that cannot be made is told to the model, never thrown. */
async function openTools(config, shell) {
  const servers = [];
  const close = () => {
    for (const server of servers) server.close();
  };
  const runners = new Map([["bash", (given, signal) => runBash(given.command, config, shell, signal)]]);
  const definitions = [bashTool];
  try {
    for (const [serverName, how] of Object.entries(config.mcpServers)) {
      const server = await openMcpServer(serverName, how, config.workdir);
      servers.push(server);
      for (const tool of server.tools) {
        const plain = tool.name.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 64);
        const name = runners.has(plain) ? `${serverName}__${plain}`.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 64) : plain;
        runners.set(name, (given) => server.call(tool.name, given));
        definitions.push({ type: "function", function: { name, description: tool.description ?? "", parameters: tool.inputSchema } });
      }
    }
  } catch (error) {
    close();
    throw error;
  }
  const run = async (call, signal) => {
    const runner = runners.get(call.function.name);
    if (runner === undefined) return `There is no tool called ${call.function.name}. The tools are: ${[...runners.keys()].join(", ")}.`;
    let given;
    try {
      given = JSON.parse(call.function.arguments || "{}");
    } catch (error) {
      return `The arguments are not valid JSON: ${error.message}.`;
    }
    try {
      return await runner(given, signal);
    } catch (error) {
      if (signal?.aborted) throw error;
      return `The tool failed: ${error.message}`;
    }
  };
  return { definitions, run, close };
}

/** Bytes of a command's output that are kept: enough to know how much was cut, never all of an endless output. */
const outputBytes = 8_000_000;
/** Linux takes 128 KiB a string of a command line, its closing zero included. */
const commandBytes = 131_071;

async function runBash(command, config, shell, signal) {
  if (typeof command !== "string") return "The argument `command` is missing or is not a text.";
  if (Buffer.byteLength(command) > commandBytes) throw new Error("the command is longer than a command line may be");
  const { output, exitCode, timedOut } = await shell({ command, workdir: config.workdir, seconds: config.bashSeconds, outputBytes }, signal);
  const ending = timedOut ? `[stopped after ${config.bashSeconds} s]` : exitCode === 0 ? "" : `[exit ${exitCode ?? "unknown"}]`;
  return [output.replace(/\n$/, ""), ending].filter((part) => part !== "").join("\n") || "(no output)";
}

/** Runs a command as a child of this process. Ends a moment after the main process, even when a child of it keeps the output open. */
function runHere({ command, workdir, seconds, outputBytes }, signal) {
  return new Promise((resolve, reject) => {
    const script = 'exec 2>&1; exec bash --norc --noprofile -c "$0"';
    const child = spawn("/bin/sh", ["-c", script, command], { cwd: workdir, stdio: ["ignore", "pipe", "ignore"], detached: true });
    const chunks = [];
    let left = outputBytes;
    let timedOut = false;
    child.stdout.on("data", (chunk) => {
      if (left > 0) chunks.push(chunk.subarray(0, left));
      left -= chunk.length;
    });
    const kill = () => endGroup(child.pid);
    const timer = setTimeout(() => {
      timedOut = true;
      kill();
    }, seconds * 1000);
    signal?.addEventListener("abort", kill, { once: true });
    child.once("error", reject);
    let grace;
    let exitCode = null;
    const finish = () => {
      clearTimeout(timer);
      clearTimeout(grace);
      signal?.removeEventListener("abort", kill);
      child.stdout.destroy();
      resolve({ output: Buffer.concat(chunks).toString("utf8"), exitCode, timedOut });
    };
    child.once("close", finish);
    child.once("exit", (code, name) => {
      // As shells say it: 128 + the signal's number.
      exitCode = code ?? 128 + (constants.signals[name] ?? 0);
      grace = setTimeout(finish, 300);
    });
  });
}

function endGroup(pid) {
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    if (error.code !== "ESRCH") throw error;
  }
}

function pause(ms, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener(
      "abort",
      () => {
        clearTimeout(timer);
        reject(signal.reason);
      },
      { once: true },
    );
  });
}

// --- The program -----------------------------------------------------------------------------------------------------------

/** One task from its start to an exit code. `text` = the final text; `error` = what a person should read. */
async function runTask(config, task, tell) {
  try {
    const { ended, text } = await runSession(config, task, tell);
    tell.events({ type: "end", ended, text });
    if (ended === "turn-limit") return { exitCode: 4, text: null, error: null };
    return { exitCode: 0, text, error: null };
  } catch (error) {
    tell.events({ type: "end", ended: "failed", message: error.message });
    return { exitCode: 3, text: null, error: error.message };
  }
}

function readArguments(argv) {
  const options = new Map();
  for (let at = 0; at < argv.length; at += 2) {
    if (!["--config", "--task", "--task-file"].includes(argv[at]) || argv[at + 1] === undefined) {
      throw new Error("usage: react.mjs --config FILE [--task TEXT | --task-file FILE]");
    }
    options.set(argv[at], argv[at + 1]);
  }
  const config = options.has("--config") ? JSON.parse(readFileSync(options.get("--config"), "utf8")) : {};
  const file = options.get("--task-file") ?? 0;
  return { config, task: options.get("--task") ?? readFileSync(file, "utf8") };
}

async function main() {
  let given;
  try {
    given = readArguments(process.argv.slice(2));
  } catch (error) {
    console.error(error.message);
    return 2;
  }
  const logFolder = given.config.logFolder ?? defaults.logFolder;
  mkdirSync(logFolder, { recursive: true });
  const events = (event) => appendFileSync(join(logFolder, "react.jsonl"), `${JSON.stringify({ at: new Date().toISOString(), ...event })}\n`);
  const stop = new AbortController();
  for (const name of ["SIGTERM", "SIGINT"]) process.once(name, () => stop.abort(new Error(`stopped by ${name}`)));
  const { exitCode, text, error } = await runTask(given.config, given.task, { events, signal: stop.signal });
  if (text !== null) {
    writeFileSync(join(logFolder, "final.txt"), text);
    console.log(text);
  }
  if (error !== null) console.error(error);
  return exitCode;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv[2] === "--resident") await serve(runTask);
  else process.exitCode = await main();
}
