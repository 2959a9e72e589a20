export { type ComparableRollout, comparableRollouts, experimentOfKey } from "./comparable.ts";
export { compareColumns } from "./comparison.ts";
export { columnOf, compareGrid } from "./grid.ts";
export { transferMatrices } from "./transfer.ts";
