/** Waits until a service is what others need it to be, and tells what it said last when it never is. */
import { setTimeout as delay } from "node:timers/promises";
import type Docker from "dockerode";
import type { Condition } from "../../compose/service-schema.ts";
import { sandboxError } from "../../sandbox-error.ts";
import { answered, lostOr } from "../engine.ts";
import { FrameReader } from "../frames.ts";

const pollMs = { first: 50, longest: 500 };
/** A program that cannot run ends at once, but not before the first look. */
const steadyMs = 300;
/** For a service whose own healthcheck never comes to an end. */
const waitLimitMs = 10 * 60_000;
const lastWords = { lines: 5, bytes: 4000 };
/** What the engine keeps is about as much. */
const logTail = 20_000;

/** `settled`: also a healthcheck that nobody asked for must pass, as with `docker compose up --wait`. */
export async function waitFor(
  name: string,
  container: Docker.Container,
  condition: Condition | "settled",
  signal: AbortSignal | undefined,
): Promise<void> {
  const end = Date.now() + waitLimitMs;
  for (let pause = pollMs.first; ; pause = Math.min(pause * 1.5, pollMs.longest)) {
    const { State } = await answered(container.inspect()).catch((error: unknown) => {
      throw lostOr(error, (reason) => sandboxError("setup-failed", `Docker cannot look at the service ${name}: ${reason}.`, "Check Docker's log."));
    });
    const verdict = judge(State, condition);
    if (verdict === "met") return;
    if (verdict !== "waiting") throw await failed(name, container, verdict);
    if (Date.now() > end) throw await failed(name, container, `was not ready within ${waitLimitMs / 60_000} minutes`);
    await delay(pause, undefined, signal === undefined ? {} : { signal });
  }
}

type State = Docker.ContainerInspectInfo["State"];

/** `met`, `waiting`, or what went wrong, as the rest of a sentence. */
function judge({ Status, ExitCode, Health, Restarting, StartedAt }: State, condition: Condition | "settled"): string {
  const ended = (Status === "exited" || Status === "dead") && !Restarting;
  const isSteady = Status === "running" && Date.now() - Date.parse(StartedAt) >= steadyMs;
  if (condition === "service_completed_successfully") {
    if (!ended) return "waiting";
    return ExitCode === 0 ? "met" : `ended with exit code ${ExitCode}`;
  }
  if (ended) {
    if (ExitCode === 0 && condition !== "service_healthy") return "met";
    return `ended with exit code ${ExitCode}`;
  }
  if (condition === "service_started") return Status === "running" ? "met" : "waiting";
  if (Health === undefined) {
    if (condition === "service_healthy") return "has no healthcheck, though others wait for it to be healthy";
    return isSteady ? "met" : "waiting";
  }
  if (Health.Status === "unhealthy") return "did not become healthy";
  return Health.Status === "healthy" ? "met" : "waiting";
}

async function failed(name: string, container: Docker.Container, what: string): Promise<Error> {
  const said = Buffer.from(await logsOf(container, lastWords.bytes))
    .toString()
    .trimEnd()
    .split("\n")
    .slice(-lastWords.lines)
    .join(" | ")
    .trim();
  const { State } = await answered(container.inspect());
  const probe = State.Health?.Log?.at(-1)?.Output?.trim() ?? "";
  const details = [...(said === "" ? [] : [`it said: ${said}`]), ...(probe === "" ? [] : [`its healthcheck said: ${probe.slice(-500)}`])];
  const detail = details.length === 0 ? "it said nothing" : details.join("; ");
  return sandboxError("setup-failed", `The service ${name} ${what}; ${detail}.`, "Check the service in the task's compose file.");
}

/** The last of what a container said, both streams as they came. */
export async function logsOf(container: Docker.Container, limitBytes: number): Promise<Uint8Array> {
  const [kept, { Config }] = await Promise.all([
    answered(container.logs({ stdout: true, stderr: true, follow: false, tail: logTail })),
    answered(container.inspect()),
  ]).catch((error: unknown) => {
    throw lostOr(error, (reason) => sandboxError("setup-failed", `Docker does not give a service's log: ${reason}.`, "Check Docker's log."));
  });
  if (Config.Tty) return kept.subarray(-limitBytes);
  const chunks: Buffer[] = [];
  new FrameReader((_stream, payload) => chunks.push(Buffer.from(payload))).push(kept);
  return Buffer.concat(chunks).subarray(-limitBytes);
}
