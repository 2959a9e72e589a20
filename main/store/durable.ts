/** Files and the names of files as the disk has them, so that a power failure cannot take them back. */
import { closeSync, fsyncSync, openSync } from "node:fs";

export function syncFile(path: string): void {
  sync(path, "r+");
}

/** Makes new names in a folder durable. Windows has no such call; its file systems keep names with the files. */
export function syncFolder(path: string): void {
  if (process.platform !== "win32") sync(path, "r");
}

function sync(path: string, flags: "r" | "r+"): void {
  const file = openSync(path, flags);
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
