/** Files in and out of a folder of this machine; only plain files and folders, links are neither followed nor copied. */
import { constants } from "node:fs";
import { chmod, copyFile, cp, lstat, mkdir, open, readdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { DirectFiles, PlainFile, UploadEntry } from "../contract.ts";
import { requirePlace } from "./places.ts";

async function isPlain(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => null);
  return found !== null && (found.isFile() || found.isDirectory());
}

/** A file to `target`, or what a folder holds into it. False when there is no such thing. */
export async function copyPlain(source: string, target: string): Promise<boolean> {
  if (!(await isPlain(source))) return false;
  await mkdir(dirname(target), { recursive: true });
  await cp(source, target, { recursive: true, verbatimSymlinks: true, filter: isPlain });
  return true;
}

export async function copyEntries(entries: readonly UploadEntry[], folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const { name, hostFile, mode } of entries) {
    const target = join(folder, name);
    if (hostFile === null) await mkdir(target, { recursive: true });
    else {
      await rm(target, { force: true });
      await copyFile(hostFile, target, constants.COPYFILE_EXCL);
    }
    await chmod(target, mode);
  }
}

export async function writePlain(path: string, bytes: Uint8Array, mode: number): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await rm(path, { recursive: true, force: true });
  await writeFile(path, bytes, { mode, flag: "wx" });
}

export function plainFiles(folder: string): DirectFiles {
  return {
    programs: async () => ({ path: ["/usr/local/bin", "/usr/bin", "/bin"], replaced: [] }),
    async freshFolder(path, mode) {
      const place = requirePlace(folder, path);
      await rm(place, { recursive: true, force: true });
      await mkdir(place, { recursive: true });
      await chmod(place, mode);
      return null;
    },
    async emptyFolder(path) {
      const place = requirePlace(folder, path);
      if ((await lstat(place).catch(() => null))?.isDirectory() !== true) return null;
      for (const name of await readdir(place)) await rm(join(place, name), { recursive: true, force: true });
      return null;
    },
    async readPlain(path, limitBytes): Promise<PlainFile> {
      const place = requirePlace(folder, path);
      const found = await lstat(place).catch(() => null);
      if (found === null) return { state: "missing" };
      if (!found.isFile()) return { state: "unreadable", reason: "no plain file" };
      if (found.size > limitBytes) return { state: "unreadable", reason: `larger than ${limitBytes} bytes` };
      const file = await open(place, constants.O_RDONLY | constants.O_NOFOLLOW);
      try {
        return { state: "file", bytes: await file.readFile() };
      } finally {
        await file.close();
      }
    },
    async measure(path, entryLimit) {
      const sum = { bytes: 0, entries: 0 };
      for (const entry of await readdir(requirePlace(folder, path), { recursive: true, withFileTypes: true })) {
        if (sum.entries > entryLimit) break;
        sum.entries += 1;
        if (entry.isFile()) sum.bytes += (await lstat(join(entry.parentPath, entry.name))).size;
      }
      return sum;
    },
  };
}
