/** What stored rollouts say: behaviour measures of one and of an experiment, harnesses by task, columns in pairs, trained by evaluated harness. */
export { type ComparableRollout, comparableRollouts, experimentOfKey } from "./comparable.ts";
export { compareColumns } from "./comparison.ts";
export { columnOf, compareGrid } from "./grid.ts";
export { type AnalysedRollout, measureExperiment, measureRollout } from "./measure-experiment.ts";
export { transferMatrices } from "./transfer.ts";
