import { randomUUID } from "node:crypto";
import { constants } from "node:os";
import { PassThrough, Writable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import type { ExecRequest, ExecResult, SandboxProgram } from "../contract.ts";
import { KeptOutput } from "../kept-output.ts";
import { sandboxLost } from "../sandbox-error.ts";
import { type BoxCgroups, joinCgroups } from "./cgroups.ts";
import { killUntilNone, processesOf } from "./host-processes.ts";
import type { LaunchEnd, Launched, Launcher } from "./launcher.ts";
import type { Namespace } from "./namespace.ts";
import type { SystemTools } from "./system-tools.ts";

const killLimitMs = 5_000;
const lostWithinMs = 250;

export interface ExecPlace {
  readonly launcher: Launcher;
  readonly tools: SystemTools;
  readonly namespace: Namespace;
  readonly cgroups: BoxCgroups | null;
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

/**
 * From the service to the command, each step a program that becomes the next one: into the control groups, to the box's user, into the
 * namespaces, to the agent. What would change how those programs themselves run is set only behind the last of them.
 */
function launcherCommand(
  place: ExecPlace,
  request: Pick<ExecRequest, "command">,
  env: Readonly<Record<string, string>>,
  cwd: string,
): readonly string[] {
  const { tools, namespace, cgroups, processLimits } = place;
  const limits = processLimits.length === 0 ? [] : [tools.prlimit, ...processLimits, "--"];
  const becomeAgent = [tools.unshare, "--user", "--map-user=1000", "--map-group=1000", `--wd=${cwd}`, "--"];
  const settings = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const own = isHarmless(env) ? [] : [tools.env, "-i", ...settings];
  return joinCgroups(tools, cgroups?.folders ?? [], [...limits, ...namespace.enter, ...becomeAgent, ...own, ...request.command]);
}

/** Whether our own tools may run with these variables: none of them makes a program load code or look elsewhere. */
function isHarmless(env: Readonly<Record<string, string>>): boolean {
  return Object.entries(env).every(([name, value]) => name === markName || standardEnvironment[name] === value);
}

/** The process group from outside, then whatever left it; the whole box when even that does not end. */
async function killTree(namespace: Namespace, launched: Launched, mark: string): Promise<void> {
  launched.kill();
  const list = (): readonly number[] => processesOf(namespace.members(), launched.pid ?? Number.NaN, mark);
  if (!(await killUntilNone(list, killLimitMs))) await namespace.killAll();
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
  const env = { ...standardEnvironment, ...request.env, [markName]: mark };
  const command = launcherCommand(place, request, env, cwd);
  const launched = place.launcher.launch({
    command,
    env: isHarmless(env) ? env : standardEnvironment,
    ...(request.stdin === undefined ? {} : { input: request.stdin }),
    outputLimitBytes: request.outputLimitBytes,
    onOutput: (stream, bytes) => output.push(stream === 1 ? "stdout" : "stderr", bytes),
  });
  const exec: RunningExec = { kill: () => killTree(place.namespace, launched, `${markName}=${mark}`) };
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
    const unexplained = end.signal === "SIGKILL" && !timedOut && running.has(exec);
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
  const env = { ...standardEnvironment, ...request.env, [markName]: mark };
  const output = new PassThrough();
  const errors = new PassThrough();
  const launched = place.launcher.launch({
    command: launcherCommand(place, request, env, cwd),
    env: isHarmless(env) ? env : standardEnvironment,
    talks: true,
    outputLimitBytes: Number.MAX_SAFE_INTEGER,
    onOutput: (stream, bytes) => (stream === 1 ? output : errors).write(bytes),
  });
  const exec: RunningExec = { kill: () => killTree(place.namespace, launched, `${markName}=${mark}`) };
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
