/** What an id names: an experiment, one of its rollouts, or a training run with the experiment it collected in. */
import { WorkbenchError } from "../errors.ts";
import type { ExperimentRecord, RolloutRecord } from "../store/index.ts";
import type { ExportParts } from "./contract.ts";

export interface Named {
  readonly experiment: ExperimentRecord | null;
  readonly rollouts: readonly RolloutRecord[];
  /** Set for a training run. */
  readonly run: string | null;
}

export function whatIsNamed({ store, training }: ExportParts, id: string): Named {
  const experiment = store.experiment(id);
  if (experiment !== null) return { experiment, rollouts: withSomething(store.rolloutsOf(id), id), run: null };
  const rollout = store.rollout(id);
  if (rollout !== null) return { experiment: store.experiment(rollout.experimentId), rollouts: [rollout], run: null };
  if (training.list().some((run) => run.id === id)) {
    const collected = training.get(id).experiment;
    return {
      experiment: collected === null ? null : store.experiment(collected),
      rollouts: collected === null ? [] : store.rolloutsOf(collected),
      run: id,
    };
  }
  throw new WorkbenchError(
    "not-found",
    `There is no experiment, rollout or training run ${id}.`,
    "See `openforge runs list` and `openforge runs show EXPERIMENT`.",
  );
}

function withSomething(rollouts: readonly RolloutRecord[], id: string): readonly RolloutRecord[] {
  if (rollouts.length > 0) return rollouts;
  throw new WorkbenchError("usage", `The experiment ${id} has no rollouts.`, "Give one that has some; see `openforge runs list`.");
}
