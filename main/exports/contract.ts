/** What leaves the store as a file that other tools read. Written beside its place and put there whole, or not at all. */
import type { ExportReport } from "../api/export-views.ts";
import type { Store } from "../store/index.ts";
import type { TrainingService } from "../training/index.ts";

export interface ExportParts {
  readonly store: Store;
  readonly training: Pick<TrainingService, "list" | "get" | "step" | "stepTokens">;
  /** Of the workbench, for the files that name their maker. */
  readonly version: string;
}

export type LeftOut = ExportReport["leftOut"][number];
