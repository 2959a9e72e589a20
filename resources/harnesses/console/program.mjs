/**
 * What a small harness needs beside its loop: the model's endpoint (OpenAI Chat Completions), bash, and the ways it is started.
 *
 *   node NAME.mjs --config FILE --task-file FILE     one task: its answer goes to `final.txt` in the log folder
 *   node NAME.mjs --resident                         many tasks one after the other (resident.mjs)
 *
 * Exit codes: 0 the model ended, 2 wrong usage, 3 the model endpoint failed, 4 the limit of turns was reached.
 */
import { spawn } from "node:child_process";
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import http from "node:http";
import https from "node:https";
import { constants } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { serve } from "./resident.mjs";

/** Tries of one model call when the endpoint fails in a way that can pass. */
const tries = 4;
/** Bytes of a command's output that are kept. */
const outputBytes = 1_000_000;

/** The answer's message and whether it was cut at its token limit. */
export async function askModel(config, messages, tools, { events, signal }) {
  const body = { model: config.model, messages, max_tokens: config.maxTokens, ...(tools.length > 0 ? { tools } : {}) };
  const bytes = Buffer.from(JSON.stringify(body));
  for (let tried = 1; ; tried++) {
    try {
      const { message, finish_reason } = (await post(config, bytes, signal)).choices[0];
      events({ type: "answer", tried, message, finishReason: finish_reason });
      return { message, isCut: finish_reason === "length" };
    } catch (error) {
      if (signal.aborted || error.final || tried === tries) throw error;
      events({ type: "retry", tried, message: error.message });
      await pause(250 * 2 ** tried, undefined, { signal });
    }
  }
}

/** On a connection of its own and without a time limit: how long an answer may take is the endpoint's affair. */
function post({ baseUrl, key }, bytes, signal) {
  const url = new URL(`${baseUrl}/chat/completions`);
  const headers = { "content-type": "application/json", "content-length": bytes.length, authorization: `Bearer ${key}` };
  const client = url.protocol === "https:" ? https : http;
  return new Promise((resolve, reject) => {
    const request = client.request(url, { method: "POST", headers, agent: false, signal }, async (response) => {
      try {
        const chunks = [];
        for await (const chunk of response) chunks.push(chunk);
        const text = Buffer.concat(chunks).toString("utf8");
        if (response.statusCode === 200) return resolve(JSON.parse(text));
        const failure = new Error(`The model endpoint said ${response.statusCode}: ${text.slice(0, 300)}`);
        failure.final = response.statusCode < 500 && response.statusCode !== 429;
        throw failure;
      } catch (error) {
        reject(error);
      }
    });
    request.on("error", reject);
    request.end(bytes);
  });
}

/** A command's output without its last line end, cut between characters at `limit`, and its exit code. */
export async function runCommand(command, config, { shell, signal }) {
  const { output, exitCode } = await shell({ command, workdir: config.workdir, seconds: config.commandSeconds, outputBytes }, signal);
  const text = output.replace(/\n$/, "");
  if (text.length <= config.resultLimit) return { text, exitCode };
  const end = /[\ud800-\udbff]/.test(text[config.resultLimit - 1]) ? config.resultLimit - 1 : config.resultLimit;
  return { text: `${text.slice(0, end)}…`, exitCode };
}

/** A child of this process; with the time its whole group ends. */
function runHere({ command, workdir, seconds }, signal) {
  return new Promise((resolve, reject) => {
    const script = 'exec 2>&1; exec bash --norc --noprofile -c "$0"';
    const child = spawn("/bin/sh", ["-c", script, command], { cwd: workdir, stdio: ["ignore", "pipe", "ignore"], detached: true });
    const chunks = [];
    let left = outputBytes;
    child.stdout.on("data", (chunk) => {
      if (left > 0) chunks.push(chunk.subarray(0, left));
      left -= chunk.length;
    });
    let killed = false;
    const kill = () => {
      killed = true;
      try {
        process.kill(-child.pid, "SIGKILL");
      } catch (error) {
        if (error.code !== "ESRCH") throw error;
      }
    };
    const timer = setTimeout(kill, seconds * 1000);
    signal.addEventListener("abort", kill, { once: true });
    child.once("error", reject);
    child.once("exit", (code, name) => {
      // As shells say it: 128 + the signal's number.
      const exitCode = killed ? null : (code ?? 128 + (constants.signals[name] ?? 0));
      clearTimeout(timer);
      signal.removeEventListener("abort", kill);
      // What it left running may hold its output open: a moment for what was printed, no longer.
      const finish = () => resolve({ output: Buffer.concat(chunks).toString("utf8"), exitCode });
      const grace = setTimeout(finish, 300);
      child.once("close", () => {
        clearTimeout(grace);
        finish();
      });
    });
  });
}

/** `loop(config, task, tell)` resolves with the final text, or null when it ran out of turns. */
export async function runProgram(loop) {
  const runTask = async (config, task, tell) => {
    try {
      const text = await loop(config, task, { shell: runHere, ...tell });
      tell.events({ type: "end", text });
      return { exitCode: text === null ? 4 : 0, text, error: null };
    } catch (error) {
      tell.events({ type: "end", message: error.message });
      return { exitCode: 3, text: null, error: error.message };
    }
  };
  if (process.argv[2] === "--resident") await serve(runTask);
  else process.exitCode = await runOnce(runTask);
}

async function runOnce(runTask) {
  const [, , first, configFile, second, taskFile] = process.argv;
  if (first !== "--config" || second !== "--task-file" || taskFile === undefined) {
    console.error("usage: --config FILE --task-file FILE, or --resident");
    return 2;
  }
  const config = JSON.parse(readFileSync(configFile, "utf8"));
  mkdirSync(config.logFolder, { recursive: true });
  const events = (event) => appendFileSync(join(config.logFolder, "agent.jsonl"), `${JSON.stringify({ at: new Date().toISOString(), ...event })}\n`);
  const stop = new AbortController();
  for (const name of ["SIGTERM", "SIGINT"]) process.once(name, () => stop.abort(new Error(`stopped by ${name}`)));
  const { exitCode, text, error } = await runTask(config, readFileSync(taskFile, "utf8"), { events, signal: stop.signal });
  if (text !== null) writeFileSync(join(config.logFolder, "final.txt"), text);
  if (error !== null) console.error(error);
  return exitCode;
}
