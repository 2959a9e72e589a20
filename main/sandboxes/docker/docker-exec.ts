/**
 * One command in a running container. Docker's exec has no time limit and no kill, its stream stays open as long as any background child
 * holds it, and its exit code may come late or never: all of that is settled here.
 */
import { randomUUID } from "node:crypto";
import type { Duplex } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import type Docker from "dockerode";
import { type ExecRequest, type ExecResult, insidePaths } from "../contract.ts";
import { KeptOutput } from "../kept-output.ts";
import { sandboxCauseOf, sandboxError } from "../sandbox-error.ts";
import { answered, lostOr, onceNoted } from "./engine.ts";
import { FrameReader } from "./frames.ts";
import { killTreeSource } from "./inside-programs.ts";

const quietMs = 60;
const lastWordsMs = 1_000;
const pollMs = { first: 40, longest: 500 };
const exitCodeLimitMs = 5_000;
const ownProgramLimitMs = 10_000;
const frozen = /is paused/i;

export interface ContainerExec extends ExecRequest {
  /** Always said: the container's own user is our forwarder's. */
  readonly user: string;
  /** True when `killAll` ended it meanwhile: its exit code is then nobody's answer. */
  readonly wasKilled: () => boolean;
  /** Ends everything in the container: the last resort for a command that cannot be ended alone. */
  readonly killEverything: () => Promise<void>;
}

export type ContainerExecResult = Omit<ExecResult, "outOfMemory">;

/** Throws a SandboxError when the container is gone or refuses; a program that cannot be started is exit code 126 or 127. */
export async function execInContainer(
  container: Docker.Container,
  request: ContainerExec,
  signal: AbortSignal | undefined,
): Promise<ContainerExecResult> {
  signal?.throwIfAborted();
  const mark = `OPENFORGE_EXEC=${randomUUID()}`;
  const { exec, stream } = await startExec(container, request, mark);
  const output = new KeptOutput(request.outputLimitBytes, request.onOutput);
  const frames = new FrameReader((name, payload) => output.push(name, payload));
  stream.on("data", (packet: Buffer) => frames.push(packet));
  const streamEnd = endOf(stream);
  if (request.stdin !== undefined) stream.end(Buffer.from(request.stdin));

  const end = new AbortController();
  let timedOut = false;
  let killed: Promise<void> | null = null;
  let killDone: () => void = () => undefined;
  const proofOfDeath = new Promise<void>((resolve) => {
    killDone = resolve;
  });
  const kill = (): void => {
    killed ??= killTree(container, request.user, mark).then((ended) => (ended ? undefined : request.killEverything()));
    killed.then(killDone, killDone);
  };
  const timer = setTimeout(() => {
    timedOut = true;
    kill();
  }, request.timeoutMs);
  signal?.addEventListener("abort", kill, { once: true });
  try {
    await Promise.race([streamEnd, mainProcessEnd(exec, end.signal), proofOfDeath]);
    clearTimeout(timer);
    await lastWords(streamEnd, output);
    await killed;
    signal?.throwIfAborted();
    if (timedOut) await requireRunning(container).catch(lost);
    const code = timedOut ? null : await exitCode(exec, container);
    if (code === 126 || code === 127) throwIfRefused(Buffer.from(output.bytes("stdout")).toString());
    return {
      exitCode: request.wasKilled() ? null : code,
      timedOut,
      stdout: output.bytes("stdout"),
      stderr: output.bytes("stderr"),
      droppedBytes: output.droppedBytes,
    };
  } finally {
    clearTimeout(timer);
    end.abort();
    signal?.removeEventListener("abort", kill);
    stream.destroy();
  }
}

type ExecStart = Pick<ContainerExec, "command" | "env" | "cwd" | "user" | "stdin">;

export async function startExec(container: Docker.Container, request: ExecStart, mark: string): Promise<{ exec: Docker.Exec; stream: Duplex }> {
  const withInput = request.stdin !== undefined;
  try {
    const creation = {
      Cmd: [...request.command],
      Env: [mark, ...Object.entries(request.env ?? {}).map(([name, value]) => `${name}=${value}`)],
      AttachStdin: withInput,
      AttachStdout: true,
      AttachStderr: true,
      Tty: false,
      ...(request.cwd === undefined ? {} : { WorkingDir: request.cwd }),
      User: request.user,
    };
    const exec = await onceNoted(() => container.exec(creation), frozen);
    const start = { hijack: true, stdin: withInput, Detach: false, Tty: false };
    return { exec, stream: await onceNoted(() => exec.start(start), frozen) };
  } catch (error) {
    throw lostOr(error, (reason) =>
      sandboxError(
        "setup-failed",
        `The container does not run ${request.command[0]}: ${reason}.`,
        "Check the user and the working folder that the task names.",
      ),
    );
  }
}

/** The engine's own complaint comes as the command's only output, with the exit code of a missing program. */
function throwIfRefused(said: string): void {
  const aboutPlace = /^(unable to find user[^\r\n]*|OCI runtime exec failed[^\r\n]*chdir to cwd[^\r\n]*)\r?\n?$/.exec(said);
  if (aboutPlace) {
    throw sandboxError(
      "setup-failed",
      `The container does not run the command: ${aboutPlace[1]}.`,
      "Check the user and the working folder that the task names.",
    );
  }
}

/** Resolves when the main process has ended, whatever still holds its output. Failed look-ups are settled by `exitCode`. */
async function mainProcessEnd(exec: Docker.Exec, signal: AbortSignal): Promise<void> {
  for (let pause = pollMs.first; ; pause = Math.min(pause * 2, pollMs.longest)) {
    await delay(pause, undefined, { ref: true });
    if (signal.aborted) return;
    const state = await answered(exec.inspect()).catch(() => null);
    if (state === null || !state.Running) return;
  }
}

async function lastWords(streamEnd: Promise<void>, output: KeptOutput): Promise<void> {
  let ended = false;
  const over = streamEnd.then(() => {
    ended = true;
  });
  const limit = Date.now() + lastWordsMs;
  for (let seen = -1; !ended && Date.now() < limit && seen !== output.chunks; ) {
    seen = output.chunks;
    await Promise.race([over, delay(quietMs)]);
  }
}

/** The engine may tell the end of a stream before it knows the code; a code that never comes is unknown, not 0. */
async function exitCode(exec: Docker.Exec, container: Docker.Container): Promise<number | null> {
  const limit = Date.now() + exitCodeLimitMs;
  try {
    for (let pause = 2; ; pause = Math.min(pause * 2, 200)) {
      const state = await answered(exec.inspect());
      if (!state.Running && state.ExitCode !== null) {
        if (state.ExitCode === 137) await requireRunning(container);
        return state.ExitCode;
      }
      if (Date.now() > limit) break;
      await delay(pause);
    }
    await requireRunning(container);
    return null;
  } catch (error) {
    return lost(error);
  }
}

function lost(error: unknown): never {
  throw lostOr(error, (reason) => sandboxError("sandbox-lost", `Docker cannot say how a command ended: ${reason}.`, "Check Docker's log."));
}

async function requireRunning(container: Docker.Container): Promise<void> {
  const { State } = await answered(container.inspect());
  if (!State.Running) throw Object.assign(new Error("container is not running"), { statusCode: 409 });
}

/**
 * Runs a program of ours inside (see inside-programs.ts) and returns the one line it says. Its end is not waited for: after a command that
 * left a child with its output open, the engine holds back the end of every later one for up to four seconds.
 */
export async function runInside(container: Docker.Container, user: string, source: string, ...args: readonly string[]): Promise<string> {
  const command = [insidePaths.node, "-e", source, ...args];
  const { stream } = await startExec(container, { command, user, cwd: "/" }, "OPENFORGE_EXEC=none");
  let said = "";
  const line = new Promise<void>((resolve) => {
    const frames = new FrameReader((name, payload) => {
      if (name === "stdout") said += payload.toString();
      if (said.includes("\n")) resolve();
    });
    stream.on("data", (packet: Buffer) => frames.push(packet));
  });
  await Promise.race([line, endOf(stream), delay(ownProgramLimitMs, undefined, { ref: false })]);
  stream.destroy();
  return said.trim();
}

async function endOf(stream: Duplex): Promise<void> {
  await new Promise<void>((resolve) => {
    stream
      .once("end", resolve)
      .once("close", resolve)
      .once("error", () => resolve());
  });
}

/** False when something lives on, or the killer itself found no room to run. */
async function killTree(container: Docker.Container, user: string, mark: string): Promise<boolean> {
  try {
    return (await runInside(container, user, killTreeSource, mark)) === "none left";
  } catch (error) {
    if (sandboxCauseOf(error) === "sandbox-lost") throw error;
    return false;
  }
}
