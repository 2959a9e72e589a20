/** Chosen files laid out in a host folder as they are to appear inside: what is packed is a folder. */
import { chmod, copyFile, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { UploadEntry } from "../contract.ts";

export async function withStagedEntries<T>(entries: readonly UploadEntry[], use: (folder: string) => Promise<T>): Promise<T> {
  const staged = await mkdtemp(join(tmpdir(), "openforge-stage-"));
  try {
    await chmod(staged, 0o755);
    for (const { name, hostFile, mode } of entries) {
      const target = join(staged, name);
      if (hostFile === null) await mkdir(target, { recursive: true });
      else await copyFile(hostFile, target);
      await chmod(target, mode);
    }
    return await use(staged);
  } finally {
    await rm(staged, { recursive: true, force: true });
  }
}
