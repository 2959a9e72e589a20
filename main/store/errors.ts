import { WorkbenchError } from "../errors.ts";

/** A record that a write needs and that is not there. */
export function missing(kind: string, id: string): WorkbenchError {
  return new WorkbenchError("not-found", `There is no ${kind} ${id} in this data folder.`, "List what there is with `openforge runs list`.");
}

/** SQLite's and the system's words for a full disk. */
export function isDiskFull(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOSPC" || error.code === "EDQUOT" || error.code === "SQLITE_FULL");
}

export function isConstraint(error: unknown, kind: "UNIQUE" | "FOREIGNKEY"): boolean {
  return error instanceof Error && "code" in error && error.code === `SQLITE_CONSTRAINT_${kind}`;
}
