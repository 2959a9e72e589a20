/** One declared artifact out of the box it lies in, less what it excludes. */
import { readdir, rm, stat } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import type { Sandbox } from "../sandboxes/index.ts";
import { leavesOut, mainService } from "../tasks/index.ts";

export interface ArtifactPlace {
  /** Absolute path in its box. */
  readonly inside: string;
  readonly exclude: readonly string[];
  readonly service: string;
}

/** To `host`, which does not exist; false when there is nothing to bring. */
export async function downloadArtifact(sandbox: Sandbox, { inside, exclude, service }: ArtifactPlace, host: string): Promise<boolean> {
  const brought = service === mainService ? await sandbox.download(inside, host) : await sandbox.services?.download(service, inside, host);
  if (brought !== true) return false;
  const found = await stat(host).catch(() => null);
  if (found?.isDirectory() === true && exclude.length > 0) await removeExcluded(host, exclude);
  return found !== null;
}

async function removeExcluded(root: string, patterns: readonly string[]): Promise<void> {
  for (const entry of await readdir(root, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    if (leavesOut(patterns, relative(root, path).split(sep).join("/"))) await rm(path, { recursive: true, force: true });
  }
}
