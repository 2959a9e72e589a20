/** Watches one experiment to its end and shows it in the terminal: a line a rollout that ends, then the table. */
import type { ExperimentResult } from "../api/experiment-views.ts";
import type { RolloutView } from "../api/rollout-views.ts";
import { note, number, print, table } from "./output.ts";
import type { VerbContext } from "./verb.ts";

type Watch = Pick<VerbContext, "client" | "signal">;

/** Resolves when the experiment has ended; Ctrl-C cancels it and waits for its sandboxes to be gone. */
export async function followExperiment({ client, signal }: Watch, experiment: string): Promise<ExperimentResult> {
  const cancel = (): void =>
    void client.experiments.cancel({ id: experiment }).catch(() => note("The experiment could not be cancelled; it goes on."));
  signal.addEventListener("abort", cancel);
  // Ctrl-C while it was being started.
  if (signal.aborted) cancel();
  try {
    const watching = new AbortController();
    const events = await client.system.events({ after: 0 }, { signal: watching.signal });
    const seen = new Set<string>();
    for await (const event of events) {
      if (event.experiment !== experiment) continue;
      if (event.type === "rollout.outcome" && event.rollout !== null && !seen.has(event.rollout)) {
        seen.add(event.rollout);
        note(rolloutLine(await client.rollouts.get({ id: event.rollout }), seen.size));
      }
      if (event.type === "log") {
        const { line, loss } = JSON.parse(event.payload) as { line: string; loss?: boolean };
        if (event.rollout === null) note(line);
        else if (loss === true) note(`      ${event.rollout}: ${line}`);
      }
      if (event.type === "experiment.ended") break;
    }
    watching.abort();
    return await client.experiments.result({ id: experiment });
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}

type LineParts = Pick<RolloutView, "task" | "harness" | "status" | "cause" | "reward" | "seconds" | "detail">;

function rolloutLine(rollout: LineParts, count: number): string {
  const cause = rollout.cause === null ? "" : ` · ${rollout.cause}`;
  const detail = rollout.status === "succeeded" || rollout.detail === null ? "" : `\n      ${rollout.detail}`;
  return `${String(count).padStart(4)}  ${rollout.task}  ${rollout.harness}  ${rollout.status ?? "–"}${cause}  reward ${number(rollout.reward)}  ${number(rollout.seconds, 1)} s${detail}`;
}

export function printExperimentResult(result: ExperimentResult): void {
  print(
    table(
      ["task", "harness", "policy", "outcome", "reward", "calls", "chains", "tokens", "trainable", "seconds"],
      result.rollouts.map((rollout) => [
        rollout.task,
        rollout.harness,
        rollout.policy,
        (rollout.status ?? rollout.phase) + (rollout.cause === null ? "" : ` · ${rollout.cause}`),
        number(rollout.reward),
        String(rollout.calls),
        String(rollout.chains),
        String(rollout.promptTokens + rollout.completionTokens),
        rollout.trainable === true ? "yes" : (rollout.trainableReason ?? "–"),
        number(rollout.seconds, 1),
      ]),
    ),
  );
  print("");
  print(
    table(
      ["harness", "policy", "n", "mean reward", "95 % interval", "infrastructure failures"],
      result.summary.map((row) => [
        row.harness,
        row.policy,
        String(row.n),
        number(row.mean),
        row.low === null || row.high === null ? "–" : `${number(row.low)} – ${number(row.high)}`,
        String(row.infrastructureFailures),
      ]),
    ),
  );
}
