import { behaviourDefinitions } from "../../../engine/behaviour/index.ts";
import {
  type ComparableRollout,
  columnOf,
  comparableRollouts,
  compareColumns,
  compareGrid,
  experimentOfKey,
  measureExperiment,
  transferMatrices,
} from "../../analysis/index.ts";
import { WorkbenchError } from "../../errors.ts";
import type { WorkbenchParts } from "../context.ts";
import type { contractImplementer } from "../implementer.ts";

export function analysisHandlers(os: ReturnType<typeof contractImplementer>, { store, training }: WorkbenchParts) {
  const rolloutsOf = async (id: string): Promise<readonly ComparableRollout[]> => {
    const experiment = store.experiment(id);
    if (experiment === null) throw new WorkbenchError("not-found", `There is no experiment ${id}.`, "See `openforge runs list`.");
    // Of the many rollouts of a training run only the held-out ones are compared: their records say enough.
    const measured = experiment.kind === "training" ? [] : await measureExperiment(store, id);
    return comparableRollouts(experiment, store.rolloutsOf(id), new Map(measured.map(({ rollout, measures }) => [rollout.id, measures])));
  };
  const side = async (key: string) => {
    const experiment = experimentOfKey(key);
    const rollouts = (experiment === null ? [] : await rolloutsOf(experiment)).filter(({ column }) => column.key === key);
    const column = columnOf(rollouts);
    if (column === null) throw new WorkbenchError("not-found", `There is nothing to compare under ${key}.`, "Choose a column of the grid.");
    return { column, rollouts };
  };
  return {
    measures: os.analysis.measures.handler(() => behaviourDefinitions),
    grid: os.analysis.grid.handler(async ({ input }) => compareGrid((await Promise.all(input.experiments.map(rolloutsOf))).flat())),
    compare: os.analysis.compare.handler(async ({ input }) => compareColumns(await side(input.a), await side(input.b))),
    transfer: os.analysis.transfer.handler(() => transferMatrices(training.list().map(({ id }) => training.get(id)))),
  };
}
