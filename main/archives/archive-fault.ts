import { WorkbenchError } from "../errors.ts";

/** An archive that is not what its name says; one sentence. */
export function brokenArchive(path: string, detail: string, cause?: unknown): WorkbenchError {
  return new WorkbenchError("usage", `${path} cannot be imported: ${detail}.`, "Get the file again, or leave it out.", { cause });
}
