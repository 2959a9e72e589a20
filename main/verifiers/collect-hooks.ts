/** Commands of a task that gather what its verifier or its artifacts need, after the agent has ended. */
import type { Sandbox } from "../sandboxes/index.ts";
import { mainService, resolveVariables, type Task, type Variables } from "../tasks/index.ts";

const outputLimitBytes = 65_536;

interface CollectOptions {
  readonly environment: Variables;
  /** Told, in one sentence, of a hook that failed: that ends nothing. */
  onLoss(line: string): void;
  readonly signal?: AbortSignal;
}

/** Those of the agent's own box first, as Harbor runs them. */
export async function runCollectHooks(sandbox: Sandbox, task: Task, { environment, onLoss, signal }: CollectOptions): Promise<void> {
  const { collect } = task.verifier;
  if (collect.length === 0) return;
  const env = resolveVariables(task.environment.env, environment);
  for (const hook of [...collect].sort((left, right) => Number(left.service !== mainService) - Number(right.service !== mainService))) {
    const { command, service, timeoutMs, user } = hook;
    const request = { command: ["/bin/sh", "-c", command], timeoutMs, outputLimitBytes, ...(user === null ? {} : { user }) };
    const end = await (service === mainService ? sandbox.exec({ ...request, env }, signal) : sandbox.services?.exec(service, request, signal));
    if (end === undefined) onLoss(`The collect command \`${command}\` names the service ${service}, which is not there.`);
    else if (end.timedOut) onLoss(`The collect command \`${command}\` did not end within ${timeoutMs / 1000} seconds.`);
    else if (end.exitCode !== 0) onLoss(`The collect command \`${command}\` ended with exit code ${end.exitCode ?? "unknown"}.`);
  }
}
