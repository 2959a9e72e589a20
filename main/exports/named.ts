/** What an id names: an experiment, one of its rollouts, or a training run with the experiment it collected in. */
import { WorkbenchError } from "../errors.ts";
import type { ExperimentRecord, RolloutRecord } from "../store/index.ts";
import type { ExportParts } from "./contract.ts";

export interface Named {
  readonly experiment: ExperimentRecord | null;
  readonly rollouts: readonly RolloutRecord[];
  /** The id is that of a rollout. */
  readonly one: boolean;
  /** Set for a training run. */
  readonly run: string | null;
}

export function whatIsNamed({ store, training }: ExportParts, id: string): Named {
  const experiment = store.experiment(id);
  if (experiment !== null) return { experiment, rollouts: some(store.rolloutsOf(id), `The experiment ${id}`), one: false, run: null };
  const rollout = store.rollout(id);
  if (rollout !== null) return { experiment: store.experiment(rollout.experimentId), rollouts: [rollout], one: true, run: null };
  if (training.list().some((run) => run.id === id)) {
    const collected = training.get(id).experiment;
    const rollouts = some(collected === null ? [] : store.rolloutsOf(collected), `The training run ${id}`);
    return { experiment: collected === null ? null : store.experiment(collected), rollouts, one: false, run: id };
  }
  throw new WorkbenchError(
    "not-found",
    `There is no experiment, rollout or training run ${id}.`,
    "See `openforge runs list` and `openforge runs show EXPERIMENT`.",
  );
}

function some(rollouts: readonly RolloutRecord[], whose: string): readonly RolloutRecord[] {
  if (rollouts.length > 0) return rollouts;
  throw new WorkbenchError("usage", `${whose} has no rollouts.`, "Give one that has some; see `openforge runs list`.");
}
