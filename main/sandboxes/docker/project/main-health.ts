/** The healthcheck that a compose file gives `main`: run as commands of ours, for the engine's own would run beside the agent. */
import { setTimeout as delay } from "node:timers/promises";
import type Docker from "dockerode";
import type { ServiceHealthcheck } from "../../compose/project.ts";
import { sandboxError } from "../../sandbox-error.ts";
import { execInContainer } from "../docker-exec.ts";

/** Compose's own. */
const usual = { intervalMs: 30_000, timeoutMs: 30_000, retries: 3 };

export async function waitUntilMainIsHealthy(container: Docker.Container, check: ServiceHealthcheck | null, user: string): Promise<void> {
  const command = commandOf(check?.test ?? ["NONE"]);
  if (command === null || check === null) return;
  const graceEnd = Date.now() + (check.startPeriodMs ?? 0);
  for (let failures = 0; ; ) {
    const result = await execInContainer(
      container,
      {
        ...{ command, user, timeoutMs: check.timeoutMs ?? usual.timeoutMs, outputLimitBytes: 4000 },
        ...{ wasKilled: () => false, killEverything: async () => undefined },
      },
      undefined,
    );
    if (result.exitCode === 0) return;
    if (Date.now() >= graceEnd) failures += 1;
    if (failures >= Math.max(check.retries ?? usual.retries, 1)) {
      const said = Buffer.from(result.stderr.length > 0 ? result.stderr : result.stdout)
        .toString()
        .trim()
        .slice(-300);
      throw sandboxError("setup-failed", `The service main did not become healthy${said === "" ? "" : `: ${said}`}.`, "Check its healthcheck.");
    }
    await delay(check.intervalMs ?? usual.intervalMs);
  }
}

function commandOf([kind, ...words]: readonly string[]): readonly string[] | null {
  if (kind === "CMD") return words;
  return kind === "CMD-SHELL" ? ["/bin/sh", "-c", ...words] : null;
}
