import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { constants } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import type { ExecRequest, ExecResult } from "../contract.ts";
import { KeptOutput } from "../kept-output.ts";
import { sandboxError, sandboxLost } from "../sandbox-error.ts";
import { type BoxCgroups, joinCgroups } from "./cgroups.ts";
import { killQuietly, killUntilNone, processesOf } from "./host-processes.ts";
import { becomeAgent, type Namespace, toolEnvironment } from "./namespace.ts";

const killLimitMs = 5_000;
/** After the main process: how long its last words may still be under way, and how long a background child may go on talking. */
const quietMs = 40;
const lastWordsMs = 1_000;
const lostWithinMs = 250;

export interface ExecPlace {
  readonly namespace: Namespace;
  readonly cgroups: BoxCgroups | null;
  /** `prlimit` options for what no cgroup limits. */
  readonly processLimits: readonly string[];
}

export interface RunningExec {
  readonly child: ChildProcess;
  /** `NAME=value` in the environment of everything this exec starts. */
  readonly mark: string;
  /** Ends what it started; resolves when nothing of it is left. */
  kill(): Promise<void>;
}

/** Starts a program inside, with pipes for its three streams (standard input empty unless `withInput`). */
export function startInside(place: ExecPlace, request: Pick<ExecRequest, "command" | "env">, cwd: string, withInput: boolean): RunningExec {
  const mark = `OPENFORGE_EXEC=${randomUUID()}`;
  const env = Object.entries(request.env ?? {}).map(([name, value]) => `${name}=${value}`);
  const { namespace } = place;
  const inside = [...namespace.enter, "prlimit", "--core=0", ...place.processLimits, ...becomeAgent, "env", "-i", "-C", cwd, mark, ...env];
  const [program = "", ...args] = joinCgroups(place.cgroups?.folders ?? [], [...inside, ...request.command]);
  const child = spawn(program, args, {
    cwd: "/",
    env: toolEnvironment(),
    detached: true,
    stdio: [withInput ? "pipe" : "ignore", "pipe", "pipe"],
  });
  return { child, mark, kill: () => killTree(namespace, child, mark) };
}

/** The process group from outside, then whatever left it; the whole box when even that does not end. */
async function killTree(namespace: Namespace, child: ChildProcess, mark: string): Promise<void> {
  const group = child.pid;
  if (group === undefined) return;
  const list = async (): Promise<readonly number[]> => processesOf(await namespace.members(), group, mark);
  if (child.exitCode === null && child.signalCode === null) killQuietly(-group);
  if (!(await killUntilNone(list, killLimitMs))) await namespace.killAll();
}

export async function execInside(
  place: ExecPlace,
  request: ExecRequest,
  cwd: string,
  running: Set<RunningExec>,
  signal: AbortSignal | undefined,
): Promise<ExecResult> {
  signal?.throwIfAborted();
  const killsBefore = (await place.cgroups?.outOfMemoryKills()) ?? 0;
  const exec = startInside(place, request, cwd, request.stdin !== undefined);
  const { child } = exec;
  running.add(exec);
  const output = new KeptOutput(request.outputLimitBytes, request.onOutput);
  child.stdout?.on("data", (chunk: Buffer) => output.push("stdout", chunk));
  child.stderr?.on("data", (chunk: Buffer) => output.push("stderr", chunk));
  if (request.stdin !== undefined) {
    // A program that does not read its input ends the pipe; that is its right.
    child.stdin?.on("error", () => undefined);
    child.stdin?.end(request.stdin);
  }
  let timedOut = false;
  let killed: Promise<void> | null = null;
  const kill = (): void => {
    killed ??= exec.kill();
    killed.catch(() => undefined);
  };
  const timer = setTimeout(() => {
    timedOut = true;
    kill();
  }, request.timeoutMs);
  signal?.addEventListener("abort", kill, { once: true });
  try {
    const end = await mainProcessEnd(child);
    clearTimeout(timer);
    await lastWords(child, output);
    await killed;
    signal?.throwIfAborted();
    // Killed by nobody here: the box itself may be ending, which takes a moment to be seen.
    const unexplained = end.signal === "SIGKILL" && !timedOut && running.has(exec);
    for (let waited = 0; unexplained && place.namespace.alive && waited < lostWithinMs; waited += 10) await delay(10);
    if (!place.namespace.alive) throw sandboxLost("its first process ended");
    const killedByUs = timedOut || !running.has(exec);
    if (end.code === 125) throwIfRefused(Buffer.from(output.bytes("stderr")).toString());
    return {
      exitCode: killedByUs ? null : exitCodeOf(end),
      timedOut,
      stdout: output.bytes("stdout"),
      stderr: output.bytes("stderr"),
      droppedBytes: output.droppedBytes,
      outOfMemory: ((await place.cgroups?.outOfMemoryKills()) ?? 0) > killsBefore,
    };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", kill);
    running.delete(exec);
  }
}

/** The launcher's own complaint comes as the command's only words. */
function throwIfRefused(said: string): void {
  const refused = /^env: (cannot change directory to [^\n]*)\n$/.exec(said);
  if (refused) throw sandboxError("setup-failed", `The command cannot run there: ${refused[1]}.`, "Check the working folder that the task names.");
}

interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

async function mainProcessEnd(child: ChildProcess): Promise<ProcessEnd> {
  return new Promise((resolve, reject) => {
    child.once("exit", (code, signal) => resolve({ code, signal }));
    child.once("error", (error) =>
      reject(sandboxError("setup-failed", `The command could not be started: ${error.message}.`, "Run `openforge doctor`.")),
    );
  });
}

/** As shells and Docker say it: 128 + the signal's number. */
function exitCodeOf({ code, signal }: ProcessEnd): number | null {
  if (code !== null) return code;
  return signal === null ? null : 128 + constants.signals[signal];
}

/** Reads what is still in the pipes, but does not wait for a background child that holds them open. */
async function lastWords(child: ChildProcess, output: KeptOutput): Promise<void> {
  const streams = [child.stdout, child.stderr].filter((stream) => stream !== null);
  const ended = (): boolean => streams.every((stream) => stream.closed || stream.readableEnded);
  const end = Date.now() + lastWordsMs;
  for (let seen = -1; !ended() && Date.now() < end && seen !== output.chunks; ) {
    seen = output.chunks;
    await Promise.race([delay(quietMs), new Promise((resolve) => child.once("close", resolve))]);
  }
  for (const stream of streams) stream.destroy();
}
