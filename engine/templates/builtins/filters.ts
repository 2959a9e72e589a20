/** All filters by name. `random` and `urlize` are left out: one is not repeatable, the other makes HTML. */
import { numberFilters } from "./number-filters.ts";
import type { Builtin } from "./runtime.ts";
import { selectionFilters } from "./selection-filters.ts";
import { sequenceFilters } from "./sequence-filters.ts";
import { textFilters } from "./text-filters.ts";
import { valueFilters } from "./value-filters.ts";

export const filters: ReadonlyMap<string, Builtin> = new Map([
  ...numberFilters,
  ...selectionFilters,
  ...sequenceFilters,
  ...textFilters,
  ...valueFilters,
]);
