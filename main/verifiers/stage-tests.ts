/** Which files of a package's folder are uploaded, and how: what `.harborignore` keeps, links replaced by what they point at, scripts executable. */
import { realpath, stat } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import type { UploadEntry } from "../sandboxes/index.ts";
import { PackageMemory, selectFiles } from "../tasks/index.ts";

const known: Record<string, PackageMemory<readonly UploadEntry[]>> = {};

/** Entries of one folder of a package (`tests`, `solution`, `cheats/NAME`), relative to it. */
export async function packageEntries(packageFolder: string, folder: string): Promise<readonly UploadEntry[]> {
  const root = await realpath(packageFolder);
  known[folder] ??= new PackageMemory();
  return known[folder].of(root, async () => {
    const entries: UploadEntry[] = [];
    for (const path of await selectFiles(root, folder)) {
      const entry = await entryOf(path, relative(join(root, folder), path).split(sep).join("/"));
      if (entry !== null) entries.push(entry);
    }
    return entries;
  });
}

async function entryOf(path: string, name: string): Promise<UploadEntry | null> {
  const found = await stat(path);
  if (found.isDirectory()) return { name, hostFile: null, mode: 0o755 };
  if (!found.isFile()) return null;
  return { name, hostFile: path, mode: (found.mode & 0o111) !== 0 || path.endsWith(".sh") ? 0o755 : 0o644 };
}
