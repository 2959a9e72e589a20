/** The healthcheck that an image or a compose file gives `main`: run as commands of ours, for the engine's own would run beside the agent. */
import { setTimeout as delay } from "node:timers/promises";
import type Docker from "dockerode";
import type { ServiceHealthcheck } from "../../compose/project.ts";
import { sandboxError } from "../../sandbox-error.ts";
import { execInContainer } from "../docker-exec.ts";

/** Compose's own. */
const usual = { intervalMs: 30_000, timeoutMs: 30_000, retries: 3 };

/** What the file leaves out is as the image says it. Null = there is none. */
export function healthcheckOfMain(image: ServiceHealthcheck | null, file: ServiceHealthcheck | null): ServiceHealthcheck | null {
  const test = file?.test ?? image?.test ?? ["NONE"];
  if (commandOf(test) === null) return null;
  return {
    test,
    intervalMs: file?.intervalMs ?? image?.intervalMs ?? null,
    timeoutMs: file?.timeoutMs ?? image?.timeoutMs ?? null,
    startPeriodMs: file?.startPeriodMs ?? image?.startPeriodMs ?? null,
    retries: file?.retries ?? image?.retries ?? null,
  };
}

const earlyMs = 500;

/** `requireAlive` rejects when it never can be, with the reason. */
export async function waitUntilHealthy(
  container: Docker.Container,
  check: ServiceHealthcheck,
  user: string,
  requireAlive: () => Promise<void>,
): Promise<void> {
  const command = commandOf(check.test ?? ["NONE"]);
  if (command === null) return;
  const interval = check.intervalMs ?? usual.intervalMs;
  // The engine looks for the first time after one interval; looking earlier must not count against anybody.
  const graceEnd = Date.now() + Math.max(check.startPeriodMs ?? 0, interval - 1);
  for (let failures = 0; ; ) {
    const result = await execInContainer(
      container,
      {
        ...{ command, user, timeoutMs: check.timeoutMs ?? usual.timeoutMs, outputLimitBytes: 4000 },
        ...{ wasKilled: () => false, killEverything: async () => undefined },
      },
      undefined,
    );
    await requireAlive();
    if (result.exitCode === 0) return;
    if (Date.now() >= graceEnd) failures += 1;
    if (failures >= Math.max(check.retries ?? usual.retries, 1)) {
      const said = Buffer.from(result.stderr.length > 0 ? result.stderr : result.stdout)
        .toString()
        .trim()
        .slice(-300);
      throw sandboxError(
        "setup-failed",
        `The healthcheck of the image or of main in the compose file does not pass${said === "" ? "" : `: ${said}`}.`,
        "Check the healthcheck and what the image starts.",
      );
    }
    await delay(Date.now() >= graceEnd ? interval : Math.min(interval, earlyMs));
  }
}

function commandOf([kind, ...words]: readonly string[]): readonly string[] | null {
  if (kind === "CMD") return words;
  return kind === "CMD-SHELL" ? ["/bin/sh", "-c", ...words] : null;
}
