import {
  type ComparableRollout,
  columnOf,
  comparableRollouts,
  compareColumns,
  compareGrid,
  experimentOfKey,
  transferMatrices,
} from "../../analysis/index.ts";
import { WorkbenchError } from "../../errors.ts";
import type { WorkbenchParts } from "../context.ts";
import type { contractImplementer } from "../implementer.ts";

export function analysisHandlers(os: ReturnType<typeof contractImplementer>, { store, training }: WorkbenchParts) {
  const rolloutsOf = (id: string): readonly ComparableRollout[] => {
    const experiment = store.experiment(id);
    if (experiment === null) throw new WorkbenchError("not-found", `There is no experiment ${id}.`, "See `openforge runs list`.");
    return comparableRollouts(experiment, store.rolloutsOf(id));
  };
  const side = (key: string) => {
    const experiment = experimentOfKey(key);
    const rollouts = experiment === null ? [] : rolloutsOf(experiment).filter(({ column }) => column.key === key);
    const column = columnOf(rollouts);
    if (column === null) throw new WorkbenchError("not-found", `There is nothing to compare under ${key}.`, "Choose a column of the grid.");
    return { column, rollouts };
  };
  return {
    grid: os.analysis.grid.handler(({ input }) => compareGrid(input.experiments.flatMap(rolloutsOf))),
    compare: os.analysis.compare.handler(({ input }) => compareColumns(side(input.a), side(input.b))),
    transfer: os.analysis.transfer.handler(() => transferMatrices(training.list().map(({ id }) => training.get(id)))),
  };
}
