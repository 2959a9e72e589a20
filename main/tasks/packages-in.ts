import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";

/**
 * The packages that a path means, sorted: the folder itself, or those that lie in it. Whatever else lies there (.git, notes) is none; one
 * that lacks its task.toml is a faulty one, to be told by whoever reads it. Null when there is no folder that can be read.
 */
export async function packagesIn(folder: string): Promise<readonly string[] | null> {
  if (isMeantAsPackage(folder)) return [folder];
  try {
    const names = await readdir(folder);
    return names
      .toSorted()
      .map((name) => join(folder, name))
      .filter(isMeantAsPackage);
  } catch {
    return null;
  }
}

function isMeantAsPackage(folder: string): boolean {
  return ["task.toml", "instruction.md"].some((name) => existsSync(join(folder, name)));
}
