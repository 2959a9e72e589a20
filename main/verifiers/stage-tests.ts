/** The tests as they are uploaded: what `.harborignore` keeps, links replaced by what they point at, scripts executable. */
import { chmod, copyFile, mkdir, mkdtemp, realpath, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { selectFiles } from "../tasks/index.ts";

/** Copies one folder of a package (`tests`, `solution`, `cheats/NAME`) into a fresh host folder and hands that to `use`. */
export async function withStagedFolder<T>(packageFolder: string, folder: string, use: (staged: string) => Promise<T>): Promise<T> {
  const staged = await mkdtemp(join(tmpdir(), "openforge-stage-"));
  try {
    await chmod(staged, 0o755);
    const root = join(await realpath(packageFolder), folder);
    for (const path of await selectFiles(packageFolder, folder)) await stage(path, join(staged, relative(root, path)));
    return await use(staged);
  } finally {
    await rm(staged, { recursive: true, force: true });
  }
}

async function stage(source: string, target: string): Promise<void> {
  const found = await stat(source);
  if (found.isDirectory()) {
    await mkdir(target, { recursive: true, mode: 0o755 });
    return;
  }
  if (!found.isFile()) return;
  await mkdir(dirname(target), { recursive: true, mode: 0o755 });
  await copyFile(source, target);
  await chmod(target, (found.mode & 0o111) !== 0 || target.endsWith(".sh") ? 0o755 : 0o644);
}
