import { randomUUID } from "node:crypto";
import { constants } from "node:os";
import { PassThrough, Writable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import type { ExecRequest, ExecResult, SandboxProgram } from "../contract.ts";
import { groupInside, killUntilNone, processesOf, processStat } from "../host-processes.ts";
import { KeptOutput } from "../kept-output.ts";
import { sandboxLost } from "../sandbox-error.ts";
import { turnText } from "./box-shell.ts";
import { type BoxCgroups, joinCgroups } from "./cgroups.ts";
import type { LaunchEnd, Launched, Launcher, LaunchRequest } from "./launcher.ts";
import type { Namespace } from "./namespace.ts";
import type { SystemTools } from "./system-tools.ts";

const killLimitMs = 5_000;
const lostWithinMs = 250;
const killedCode = 128 + constants.signals.SIGKILL;

export interface ExecPlace {
  readonly launcher: Launcher;
  readonly tools: SystemTools;
  readonly namespace: Namespace;
  readonly cgroups: BoxCgroups | null;
  /** Of every command, before its own. */
  readonly environment: Readonly<Record<string, string>>;
  /** `prlimit` options for what no cgroup limits. */
  readonly processLimits: readonly string[];
}

export interface RunningExec {
  /** Ends what it started; resolves when nothing of it is left. */
  kill(): Promise<void>;
}

export const standardEnvironment: Readonly<Record<string, string>> = {
  PATH: "/opt/openforge/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  HOME: "/home/agent",
  USER: "agent",
  LOGNAME: "agent",
  SHELL: "/bin/sh",
  LANG: "C.UTF-8",
  TZ: "UTC",
};

/** Name of the variable by which everything that one exec started is found again. */
const markName = "OPENFORGE_EXEC";

interface Start {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/**
 * What the first process, or who entered the box, runs: a program that becomes the agent and then the command. Variables that would change
 * how that program itself runs are set only behind it.
 */
function becomeAgent({ tools, environment }: ExecPlace, { command, env }: Start, cwd: string): Start {
  const become = [tools.unshare, "--user", "--map-user=1000", "--map-group=1000", `--wd=${cwd}`, "--"];
  if (isHarmless(env, environment)) return { command: [...become, ...command], env };
  const settings = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  return { command: [...become, tools.env, "-i", ...settings, ...command], env: environment };
}

function limitPrefix({ tools, processLimits }: ExecPlace): readonly string[] {
  return processLimits.length === 0 ? [] : [tools.prlimit, ...processLimits, "--"];
}

/** From outside, each step a program that becomes the next one: into the control groups, to the box's user, into the namespaces. */
function fromOutside(place: ExecPlace, start: Start, cwd: string): Start {
  const { tools, namespace, cgroups } = place;
  const { command, env } = becomeAgent(place, start, cwd);
  return { command: joinCgroups(tools, cgroups?.folders ?? [], [...limitPrefix(place), ...namespace.enter, ...command]), env };
}

/** Whether our own tools may run with these variables: none of them makes a program load code or look elsewhere. */
function isHarmless(env: Readonly<Record<string, string>>, usual: Readonly<Record<string, string>>): boolean {
  return Object.entries(env).every(([name, value]) => name === markName || usual[name] === value);
}

function ownTurn(place: ExecPlace, start: Start, cwd: string, turn: number): string {
  const { command, env } = becomeAgent(place, start, cwd);
  return turnText(turn, [...limitPrefix(place), ...command], env);
}

/** The process group, then whatever left it; the whole box when even that does not end. */
async function killTree(namespace: Namespace, launched: Launched, mark: string, inTurn: boolean): Promise<void> {
  launched.kill();
  // From outside a command has a session of its own, in a turn a group.
  const ofGroup = (pid: number): boolean => launched.pid === (inTurn ? groupInside(pid) : processStat(pid)?.session);
  if (!(await killUntilNone(() => processesOf(namespace.members(), mark, ofGroup), killLimitMs))) await namespace.killAll();
}

/** `cwd` is a folder inside that is known to be there. */
export async function execInside(
  place: ExecPlace,
  request: ExecRequest,
  cwd: string,
  running: Set<RunningExec>,
  signal: AbortSignal | undefined,
): Promise<ExecResult> {
  signal?.throwIfAborted();
  const killsBefore = place.cgroups?.outOfMemoryKills() ?? 0;
  const output = new KeptOutput(request.outputLimitBytes, request.onOutput);
  const mark = randomUUID();
  const env = { ...place.environment, ...request.env, [markName]: mark };
  const start = { command: request.command, env };
  const { stdin, outputLimitBytes } = request;
  const streams: Pick<LaunchRequest, "outputLimitBytes" | "onOutput"> = {
    outputLimitBytes,
    onOutput: (stream, bytes) => output.push(stream === 1 ? "stdout" : "stderr", bytes),
  };
  const turn = stdin === undefined ? place.namespace.takeTurn((number) => ({ ...streams, text: ownTurn(place, start, cwd, number) })) : null;
  const launched = turn ?? place.launcher.launch({ ...fromOutside(place, start, cwd), ...streams, ...(stdin === undefined ? {} : { input: stdin }) });
  const exec: RunningExec = { kill: () => killTree(place.namespace, launched, `${markName}=${mark}`, turn !== null) };
  running.add(exec);
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
    const end = await launched.end;
    clearTimeout(timer);
    await killed;
    signal?.throwIfAborted();
    // Killed by nobody here: the box itself may be ending, which takes a moment to be seen.
    const unexplained = exitCodeOf(end) === killedCode && !timedOut && running.has(exec);
    for (let waited = 0; unexplained && place.namespace.alive && waited < lostWithinMs; waited += 10) await delay(10);
    if (!place.namespace.alive) throw sandboxLost("its first process ended");
    return {
      exitCode: timedOut || !running.has(exec) ? null : exitCodeOf(end),
      timedOut,
      stdout: output.bytes("stdout"),
      stderr: output.bytes("stderr"),
      droppedBytes: end.droppedBytes,
      outOfMemory: (place.cgroups?.outOfMemoryKills() ?? 0) > killsBefore,
    };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", kill);
    running.delete(exec);
  }
}

/** Starts a program that is talked to; it ends with `killAll` or the box. */
export function startInside(
  place: ExecPlace,
  request: { readonly command: readonly string[]; readonly env: Readonly<Record<string, string>> },
  cwd: string,
  running: Set<RunningExec>,
): SandboxProgram {
  const mark = randomUUID();
  const env = { ...place.environment, ...request.env, [markName]: mark };
  const output = new PassThrough();
  const errors = new PassThrough();
  const launched = place.launcher.launch({
    ...fromOutside(place, { command: request.command, env }, cwd),
    talks: true,
    outputLimitBytes: Number.MAX_SAFE_INTEGER,
    onOutput: (stream, bytes) => (stream === 1 ? output : errors).write(bytes),
  });
  const exec: RunningExec = { kill: () => killTree(place.namespace, launched, `${markName}=${mark}`, false) };
  running.add(exec);
  const input = new Writable({
    write(chunk: Buffer, _encoding, done) {
      launched.write(chunk);
      done();
    },
    final(done) {
      launched.letGo();
      done();
    },
  });
  const over = (): void => void running.delete(exec);
  return { input, output, errors, ended: launched.end.then(over, over) };
}

/** As shells and Docker say it: 128 + the signal's number. */
function exitCodeOf({ code, signal }: LaunchEnd): number | null {
  if (code !== null) return code;
  return signal === null ? null : 128 + constants.signals[signal];
}
