import { WorkbenchError } from "../errors.ts";
import type { Store } from "./contract.ts";

/** Writes one experiment with everything it refers to as a single portable file. */
export function exportRecording(_store: Store, experimentId: string, path: string): void {
  throw new WorkbenchError("store", `${experimentId} cannot be exported to ${path} by this build.`, "Update the workbench.");
}

/** Reads such a file; the experiment appears with status `recording`. Returns its id. */
export function importRecording(_store: Store, path: string): string {
  throw new WorkbenchError("store", `${path} cannot be imported by this build.`, "Update the workbench.");
}
