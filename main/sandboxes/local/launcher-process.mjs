// Starts the programs of local sandboxes for the service. A process is copied when it starts another: from the service, whose memory is
// large, that takes many milliseconds in which nothing else happens; from here it takes less than one. Lives as long as the service's
// channel, and what it started with a lifeline ends with it.
import { spawn } from "node:child_process";
import { closeSync, readdirSync, readFileSync } from "node:fs";

/** After the main process: how long its last words may still be under way, and how long a background child may go on talking. */
const quietMs = 40;
const lastWordsMs = 1_000;
const closeOnExec = 0o2000000;

const running = new Map();

/** A message costs more than most of what it says: what may wait a little goes with what may not. */
const gatherMs = 20;
const waiting = [];
let gathering;

function tell(message, mayWait = false) {
  waiting.push(message);
  if (mayWait) gathering ??= setTimeout(flush, gatherMs);
  else flush();
}

function flush() {
  clearTimeout(gathering);
  gathering = undefined;
  if (process.connected) process.send(waiting.splice(0));
}

/** The service is to accept there, and nobody else. */
const handOver = (id, server) => {
  if (process.connected) process.send([{ id, type: "handle" }], server, () => server.close());
};

/** What whoever started the service left open must not reach a sandbox: everything of Node's own is closed by the kernel on exec. */
function closeInherited() {
  for (const name of readdirSync("/proc/self/fd")) {
    try {
      const flags = Number.parseInt(/^flags:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${name}`, "utf8"))?.[1] ?? "0", 8);
      if (Number(name) > 2 && (flags & closeOnExec) === 0) closeSync(Number(name));
    } catch (error) {
      // The listing's own descriptor is gone by now.
      if (error.code !== "ENOENT" && error.code !== "EBADF") throw error;
    }
  }
}

function start({ id, command, env, input, talks, channel, limit, pairs }) {
  const box = pairs !== null;
  const stdio = [
    box || talks || input !== null ? "pipe" : "ignore",
    channel ? "ignore" : "pipe",
    "pipe",
    ...(box ? ["pipe"] : channel ? ["ipc"] : []),
  ];
  if (box) for (let fd = 4; fd < pairs.first + pairs.count * 2; fd += 1) stdio.push(fd < pairs.first ? "ignore" : "pipe");
  const [program, ...args] = command;
  const child = spawn(program, args, { cwd: "/", env, detached: true, stdio });
  const one = { child, streams: child.stdio.slice(1, 4).filter(isStream), chunks: 0, dropped: 0, ended: false, turns: new Set() };
  running.set(id, one);
  for (const [index, stream] of child.stdio.slice(1, 4).entries()) if (isStream(stream)) follow(one, id, index + 1, stream, limit, box || talks);
  for (const stream of child.stdio.slice(4)) stream?.on("error", () => undefined);
  // A program that does not read its input ends the pipe; that is its right.
  child.stdin?.on("error", () => undefined);
  if (box) readAnswers(one);
  else if (input !== null) child.stdin?.end(input);
  if (channel) child.once("message", (_message, server) => handOver(id, server));
  child.once("error", ({ message, code, path }) => {
    if (one.ended) return;
    one.ended = true;
    running.delete(id);
    tell({ id, type: "failed", message, code, path });
  });
  child.once("exit", async (code, signal) => {
    one.ended = true;
    for (const turn of one.turns) void endTurn(one, turn, null, "SIGKILL");
    const closed = new Promise((resolve) => {
      child.once("close", resolve);
    });
    await lastWords(one, closed);
    for (const stream of child.stdio) stream?.destroy();
    running.delete(id);
    tell({ id, type: "end", code, signal, dropped: one.dropped });
  });
  if (child.pid !== undefined) tell({ id, type: "started", pid: child.pid }, true);
}

const isStream = (stream) => stream !== null && stream !== undefined && typeof stream.on === "function";

/** Lets the first process of a box start something, whose output comes by a pair of descriptors that nobody else has. */
function startTurn({ id, box, out, text, limit }) {
  const boxed = running.get(box);
  if (boxed === undefined || boxed.ended) {
    tell({ id, type: "end", code: null, signal: "SIGKILL", dropped: 0 });
    return;
  }
  const streams = [boxed.child.stdio[out], boxed.child.stdio[out + 1]];
  const one = { streams, chunks: 0, dropped: 0 };
  running.set(id, one);
  boxed.turns.add(id);
  for (const [index, stream] of streams.entries()) follow(one, id, index + 1, stream, limit);
  boxed.child.stdin.write(`${id} ${Buffer.byteLength(text)}\n${text}`);
}

async function endTurn(boxed, id, code, signal) {
  const one = running.get(id);
  if (one === undefined || !boxed.turns.delete(id)) return;
  const closed = Promise.all(
    one.streams.map(
      (stream) =>
        new Promise((resolve) => {
          if (stream.closed) resolve();
          else stream.once("close", resolve);
        }),
    ),
  );
  await lastWords(one, closed);
  running.delete(id);
  tell({ id, type: "end", code, signal, dropped: one.dropped });
}

/** What the first process of a box says: `+ ID PID`, something has started; `= ID CODE`, it has ended. */
function readAnswers(one) {
  let rest = "";
  one.child.stdout.on("data", (chunk) => {
    const lines = (rest + chunk.toString()).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      const [, sign, id, number] = /^([+=]) (\d+) (\d+)$/.exec(line) ?? [];
      if (sign === "+") tell({ id: Number(id), type: "started", pid: Number(number) }, true);
      if (sign === "=") void endTurn(one, Number(id), Number(number), null);
    }
  });
}

/** Hands on the first bytes of a stream and counts the rest, so that a flood fills nobody's memory. */
function follow(one, id, number, readable, limit, prompt) {
  let left = limit;
  readable.on("error", () => undefined);
  readable.on("data", (chunk) => {
    one.chunks += 1;
    const kept = chunk.length <= left ? chunk : chunk.subarray(0, left);
    one.dropped += chunk.length - kept.length;
    left -= kept.length;
    if (kept.length > 0) tell({ id, type: "output", stream: number, bytes: kept }, prompt !== true);
  });
}

/** Reads what is still in the pipes, but does not wait for a background child that holds them open. */
async function lastWords(one, closed) {
  const ended = () => one.streams.every((stream) => stream.closed || stream.destroyed || stream.readableEnded);
  const end = Date.now() + lastWordsMs;
  for (let seen = -1; !ended() && Date.now() < end && seen !== one.chunks; ) {
    seen = one.chunks;
    let timer;
    const quiet = new Promise((resolve) => {
      timer = setTimeout(resolve, quietMs);
    });
    await Promise.race([quiet, closed]);
    clearTimeout(timer);
  }
  for (const stream of one.streams) stream.destroy();
}

process.on("message", (message) => {
  if (message.type === "start") return start(message);
  if (message.type === "turn") return startTurn(message);
  const one = running.get(message.id);
  if (one === undefined) return;
  // The group of a process that has ended may be somebody else's by now.
  if (message.type === "kill" && one.child !== undefined && !one.ended) {
    try {
      process.kill(-one.child.pid, "SIGKILL");
    } catch (error) {
      if (error.code !== "ESRCH") throw error;
    }
  }
  if (message.type === "write") one.child.stdin?.write(message.bytes);
  if (message.type === "let-go") one.child.stdin?.destroy();
});
process.on("disconnect", () => process.exit(0));
closeInherited();
tell({ type: "ready" });
