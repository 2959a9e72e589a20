import { posix } from "node:path";
import { WorkbenchError } from "../errors.ts";
import { sandboxError } from "./sandbox-error.ts";

/** Of one transfer, in one direction. */
export const transferLimitBytes = 4 * 1024 ** 3;
export const entryLimit = 200_000;

export const transferLimitText = `${transferLimitBytes / 1024 ** 3} GiB`;

export function tooMuch(insidePath: string, limit: string): WorkbenchError {
  return sandboxError("disk-full", `${insidePath} is more than ${limit}; it was not copied out.`, "Keep less there, or declare a narrower artifact.");
}

/** The path in its plain form; refuses what names no file or folder. */
export function absoluteInside(path: string): string {
  const plain = posix.normalize(path).replace(/(?<=.)\/+$/, "");
  if (plain.startsWith("/") && plain !== "/" && !plain.includes("\0")) return plain;
  throw new WorkbenchError("sandbox", `"${path}" is no absolute path of a file or folder in a sandbox.`, "Give a path such as /app/notes.txt.");
}
