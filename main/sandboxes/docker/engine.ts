/** The connection to a Docker engine on this machine, and what its failures mean. */
import { existsSync } from "node:fs";
import { Agent } from "node:http";
import { homedir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import Docker from "dockerode";
import { WorkbenchError } from "../../errors.ts";
import { sandboxLost, unavailable } from "../sandbox-error.ts";

const answerLimitMs = 5_000;
const callLimitMs = 60_000;
const noteLimitMs = 10_000;

export interface Engine {
  readonly docker: Docker;
  readonly socketPath: string;
}

/** A named socket, else DOCKER_HOST, else the usual places: system-wide, rootless. */
export function connectEngine(named: string | undefined): Engine {
  const host = process.env.DOCKER_HOST ?? "";
  if (named === undefined && host !== "" && !host.startsWith("unix://")) {
    throw unavailable(
      `DOCKER_HOST is ${host}: this version of the workbench needs a Docker engine on this machine.`,
      "Unset DOCKER_HOST, or set it to unix:///path/to/docker.sock.",
    );
  }
  const usual = [
    "/var/run/docker.sock",
    join(process.env.XDG_RUNTIME_DIR ?? "/nonexistent", "docker.sock"),
    join(homedir(), ".docker/run/docker.sock"),
  ];
  const socketPath = named ?? (host !== "" ? host.slice("unix://".length) : (usual.find((path) => existsSync(path)) ?? "/var/run/docker.sock"));
  // One connection a request: the engine answers an upload before it has read its end, and such a connection, kept for
  // later, never becomes idle and keeps the service from ending.
  const docker = new Docker({ socketPath });
  Object.assign(docker.modem, { agent: new Agent({ keepAlive: false }) });
  return { docker, socketPath };
}

/** Refuses at once when no engine answers, or one whose containers cannot see this machine's files and sockets. */
export async function requireEngine({ docker, socketPath }: Engine): Promise<Docker.DockerVersion> {
  try {
    const version = await Promise.race([docker.version(), silence(answerLimitMs)]);
    if (version.Os !== "linux") throw unavailable(`Docker at ${socketPath} runs ${version.Os} containers.`, "Switch it to Linux containers.");
    if (JSON.stringify(version.Platform ?? {}).includes("Docker Desktop")) {
      throw unavailable(
        "Docker Desktop runs its containers in a virtual machine that cannot reach the proxy's socket.",
        "Use a Docker engine on Linux, or --sandbox local.",
      );
    }
    return version;
  } catch (error) {
    throw error instanceof WorkbenchError ? error : noEngine(socketPath, error);
  }
}

function noEngine(socketPath: string, error: unknown): WorkbenchError {
  const code = codeOf(error);
  if (code === "EACCES" || code === "EPERM") {
    return unavailable(
      `This user may not use Docker's socket ${socketPath}.`,
      "Add the user to the group docker and log in again, or use --sandbox local.",
    );
  }
  const why = code === "ENOENT" ? "there is no such socket" : code === "ECONNREFUSED" ? "nothing listens there" : "it does not answer";
  return unavailable(`Docker is not running: tried ${socketPath}, ${why}.`, "Start it (systemctl start docker), or use --sandbox local.");
}

function codeOf(error: unknown): string | null {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : null;
}

export function statusOf(error: unknown): number | null {
  return error instanceof Error && "statusCode" in error && typeof error.statusCode === "number" ? error.statusCode : null;
}

/** The engine's own words without the wrapping: `(HTTP code 404) no such container - …`. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message
    .replace(/^\(HTTP code \d+\) [^-]* - /, "")
    .trim()
    .replaceAll("\n", " ");
}

/** A call that must be answered soon, whatever the engine is doing; one that is not counts as a lost engine. */
export async function answered<T>(call: Promise<T>): Promise<T> {
  const over = new AbortController();
  try {
    return await Promise.race([call, silence(callLimitMs, over.signal)]);
  } finally {
    over.abort();
  }
}

/**
 * `call`, asked again while the engine refuses it with `refusal`. The engine notes twice that a container was frozen or thawed, at the call and
 * when word of it comes, which may be after the next call: for a moment it then believes what is no longer so.
 */
export async function onceNoted<T>(call: () => Promise<T>, refusal: RegExp): Promise<T> {
  const limit = Date.now() + noteLimitMs;
  for (let pause = 2; ; pause = Math.min(pause * 2, 200)) {
    try {
      return await answered(call());
    } catch (error) {
      if (!refusal.test(reasonOf(error)) || Date.now() > limit) throw error;
    }
    await delay(pause);
  }
}

async function silence(limitMs: number, over?: AbortSignal): Promise<never> {
  await delay(limitMs, undefined, { ref: false, ...(over === undefined ? {} : { signal: over }) });
  throw Object.assign(new Error(`no answer within ${limitMs / 1000} seconds`), { code: "ETIMEDOUT" });
}

/** A failed call about a running container: gone with its engine or by itself, else the engine's own complaint. */
export function lostOr(error: unknown, complaint: (reason: string) => WorkbenchError): WorkbenchError {
  if (error instanceof WorkbenchError) return error;
  const code = codeOf(error);
  if (code === "ENOENT" || code === "ECONNREFUSED" || code === "ECONNRESET" || code === "EPIPE" || code === "ETIMEDOUT")
    return sandboxLost("Docker stopped answering");
  const reason = reasonOf(error);
  if (/no such container|is not running|not running|is restarting|removal in progress/i.test(reason)) return sandboxLost("its container ended");
  return complaint(reason);
}
