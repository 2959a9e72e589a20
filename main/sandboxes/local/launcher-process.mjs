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

const tell = (message) => {
  if (process.connected) process.send(message);
};

/** The service is to accept there, and nobody else. */
const handOver = (id, server) => {
  if (process.connected) process.send({ id, type: "handle" }, server, () => server.close());
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

function start({ id, command, env, input, talks, lifeline, channel, limit }) {
  const stdin = lifeline || talks || input !== null ? "pipe" : "ignore";
  const stdio = [stdin, channel ? "ignore" : "pipe", "pipe", ...(lifeline ? ["pipe"] : channel ? ["ipc"] : [])];
  const [program, ...args] = command;
  const child = spawn(program, args, { cwd: "/", env, detached: true, stdio });
  const one = { child, chunks: 0, dropped: 0, ended: false };
  running.set(id, one);
  for (const stream of [1, 2, 3]) follow(one, id, stream, child.stdio[stream], limit);
  // A program that does not read its input ends the pipe; that is its right.
  child.stdin?.on("error", () => undefined);
  if (lifeline) child.stdin?.write("ready\n");
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
    await lastWords(one);
    running.delete(id);
    tell({ id, type: "end", code, signal, dropped: one.dropped });
  });
  if (child.pid !== undefined) tell({ id, type: "started", pid: child.pid });
}

/** Hands on the first bytes of a stream and counts the rest, so that a flood fills nobody's memory. */
function follow(one, id, stream, readable, limit) {
  let left = limit;
  readable?.on("error", () => undefined);
  readable?.on("data", (chunk) => {
    one.chunks += 1;
    const kept = chunk.length <= left ? chunk : chunk.subarray(0, left);
    one.dropped += chunk.length - kept.length;
    left -= kept.length;
    if (kept.length > 0) tell({ id, type: "output", stream, bytes: kept });
  });
}

/** Reads what is still in the pipes, but does not wait for a background child that holds them open. */
async function lastWords(one) {
  const streams = one.child.stdio.slice(1).filter((stream) => stream !== null && stream !== undefined && typeof stream.on === "function");
  const ended = () => streams.every((stream) => stream.closed || stream.destroyed || stream.readableEnded);
  const closed = new Promise((resolve) => {
    one.child.once("close", resolve);
  });
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
  for (const stream of streams) stream.destroy();
}

process.on("message", (message) => {
  if (message.type === "start") {
    start(message);
    return;
  }
  const one = running.get(message.id);
  if (one === undefined) return;
  // The group of a process that has ended may be somebody else's by now.
  if (message.type === "kill" && !one.ended) {
    try {
      process.kill(-one.child.pid, "SIGKILL");
    } catch (error) {
      if (error.code !== "ESRCH") throw error;
    }
  }
  if (message.type === "hush") for (const stream of one.child.stdio.slice(1)) stream?.destroy();
  if (message.type === "write") one.child.stdin?.write(message.bytes);
  if (message.type === "let-go") one.child.stdin?.destroy();
});
process.on("disconnect", () => process.exit(0));
closeInherited();
tell({ type: "ready" });
