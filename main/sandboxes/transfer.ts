/**
 * Files in and out of sandboxes whose files the service cannot reach itself, as tar streams that are packed or unpacked *inside*: a path is resolved in the box's own
 * file system, so a link that an agent planted can lead nowhere else. Coming out, only plain files and folders are written;
 * links, devices and sockets are left behind, and the size is bounded.
 */
import { lstat, readdir, realpath } from "node:fs/promises";
import { basename, dirname, join, posix } from "node:path";
import type { Readable } from "node:stream";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import tar from "tar-fs";
import { WorkbenchError } from "../errors.ts";
import { absoluteInside, entryLimit, tooMuch, transferLimitBytes, transferLimitText } from "./transfer-limits.ts";

/** The library's type forgets the target of a hard link. */
type Header = tar.Headers & { linkname?: string | null };

export interface FileOwner {
  readonly uid: number;
  readonly gid: number;
}

/** What a kind must be able to do for files to move. */
export interface TarEnds {
  readonly owner: FileOwner;
  /** Unpacks into a folder inside, which is made when missing. */
  unpackInside(folder: string, archive: AsyncIterable<unknown>): Promise<void>;
  /** Packs one file or folder, its last path component as the first of every name; null when there is none. */
  packInside(path: string): Promise<{ readonly archive: Readable; readonly done: Promise<void> } | null>;
}

export async function uploadInto(ends: TarEnds, hostPath: string, insidePath: string): Promise<void> {
  const inside = absoluteInside(insidePath);
  const source = await realpath(hostPath).catch(() => {
    throw new WorkbenchError("sandbox", `There is no ${hostPath} to copy into the sandbox.`, "Check the path.");
  });
  const own = (header: tar.Headers): tar.Headers => ({ ...header, ...ends.owner });
  // Modes arrive as they are, whatever the service's umask; a socket or pipe among the files is left out.
  const exact = { strict: false, umask: 0 };
  if ((await lstat(source)).isDirectory()) {
    const entries = await readdir(source);
    await ends.unpackInside(inside, tar.pack(source, { ...exact, entries, map: own }));
    return;
  }
  const named = (header: tar.Headers): tar.Headers => ({ ...own(header), name: posix.basename(inside) });
  const archive = tar.pack(dirname(source), { ...exact, entries: [basename(source)], map: named });
  await ends.unpackInside(posix.dirname(inside), archive);
}

export async function writeInto(ends: TarEnds, insidePath: string, bytes: Uint8Array, mode: number): Promise<void> {
  const inside = absoluteInside(insidePath);
  const archive = tar.pack("/", {
    entries: [],
    finalize: false,
    finish: (pack) => {
      pack.entry({ name: posix.basename(inside), mode, mtime: new Date(), ...ends.owner }, Buffer.from(bytes));
      pack.finalize();
    },
  });
  await ends.unpackInside(posix.dirname(inside), archive);
}

export async function downloadFrom(ends: TarEnds, insidePath: string, hostPath: string): Promise<boolean> {
  const packed = await ends.packInside(absoluteInside(insidePath));
  if (packed === null) return false;
  const written = new Set<string>();
  const top = basename(hostPath);
  const renamed = (name: string): string => join(top, ...name.split("/").filter(Boolean).slice(1));
  // Files belong to the service, and it can always read and remove them.
  const plain = { strict: false, chown: false, dmode: 0o700, fmode: 0o600, umask: 0o022 };
  const unpack = tar.extract(dirname(hostPath), {
    ...plain,
    map: (header: Header) => {
      header.name = renamed(header.name);
      if (header.type === "link" && header.linkname) header.linkname = renamed(header.linkname);
      return header;
    },
    ignore: (_path: string, header?: Header) => {
      if (header === undefined) return true;
      const wanted = header.type === "file" || header.type === "directory" || (header.type === "link" && written.has(header.linkname ?? ""));
      if (wanted) written.add(header.name);
      if (written.size > entryLimit) unpack.destroy(tooMuch(insidePath, `${entryLimit} files`));
      return !wanted;
    },
  });
  await pipeline(packed.archive, boundedBytes(insidePath), unpack);
  await packed.done;
  return written.size > 0;
}

function boundedBytes(insidePath: string): Transform {
  let total = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, next) {
      total += chunk.length;
      if (total > transferLimitBytes) next(tooMuch(insidePath, transferLimitText));
      else next(null, chunk);
    },
  });
}
