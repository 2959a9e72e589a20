/** Which rows of a regrade are looked at. Pure. */
import type { RegradeReport, RegradeRow } from "../../service/views.ts";

export type Shown = "flipped" | "same" | "skipped";

export function rowsShown({ rows }: RegradeReport, shown: Shown): readonly RegradeRow[] {
  return rows.filter((row) => (row.after === null ? shown === "skipped" : row.flipped ? shown === "flipped" : shown === "same"));
}

/** What a person came for: the flips; where nothing could be graded, why. */
export const defaultShown = ({ graded, skipped }: RegradeReport): Shown => (graded === 0 && skipped > 0 ? "skipped" : "flipped");
