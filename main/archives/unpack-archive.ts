/**
 * Unpacks a tar or zip archive of somebody else's. An archive that wants anything but plain files, folders and links, each once and each below
 * the folder that receives it, is refused as a whole: nothing of it is made harmless in silence. Its size is counted as it comes, whatever it says.
 */
import { createReadStream, createWriteStream } from "node:fs";
import { copyFile, lstat, mkdir, symlink } from "node:fs/promises";
import { join, posix } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { extract, type Header } from "tar-stream";
import { WorkbenchError } from "../errors.ts";
import { brokenArchive } from "./archive-fault.ts";
import { openZip } from "./zip-file.ts";

export interface UnpackOptions {
  readonly archive: string;
  /** Exists, and is empty. */
  readonly into: string;
  readonly signal?: AbortSignal;
  readonly limits?: UnpackLimits;
}

interface UnpackLimits {
  readonly bytes: number;
  readonly entries: number;
}

const usualLimits: UnpackLimits = { bytes: 4 * 1024 ** 3, entries: 100_000 };
const tarName = /\.(?:tar|tar\.gz|tgz)$/i;
const zipName = /\.zip$/i;

export function isArchiveName(path: string): boolean {
  return tarName.test(path) || zipName.test(path);
}

/** What is left when it rejects is the caller's to remove. Rejects with a WorkbenchError of one sentence for whatever is wrong with the archive. */
export async function unpackArchive({ archive, into, signal, limits = usualLimits }: UnpackOptions): Promise<void> {
  const target = new Target(archive, into, limits);
  try {
    await (zipName.test(archive) ? unzip : untar)(archive, target, signal);
    await target.finish();
  } catch (error) {
    signal?.throwIfAborted();
    throw error instanceof WorkbenchError ? error : faultOf(archive, error);
  }
}

function faultOf(archive: string, error: unknown): WorkbenchError {
  const { code } = error as NodeJS.ErrnoException;
  if (code === "ENOSPC" || code === "EDQUOT")
    return new WorkbenchError("task", `${archive} is not unpacked: there is no room for it.`, "Free some disk space.", { cause: error });
  return brokenArchive(archive, code === "ENAMETOOLONG" ? "a name in it is too long" : "it is no such archive, or it is damaged", error);
}

async function untar(archive: string, target: Target, signal: AbortSignal | undefined): Promise<void> {
  const unpacking = extract();
  const steps = [createReadStream(archive), ...(/\.(?:gz|tgz)$/i.test(archive) ? [createGunzip()] : []), unpacking];
  const feeding = pipeline(steps, signal === undefined ? {} : { signal });
  // Its fault ends the loop below, too.
  feeding.catch(() => undefined);
  try {
    for await (const entry of unpacking) {
      await target.add(placeOf(entry.header), entry as AsyncIterable<Uint8Array>);
      // What was not wanted of it.
      entry.resume();
    }
    await feeding;
  } finally {
    unpacking.destroy();
    await feeding.catch(() => undefined);
  }
}

const tarKinds: Readonly<Record<string, Entry["kind"]>> = {
  file: "file",
  "contiguous-file": "file",
  directory: "folder",
  symlink: "link",
  link: "copy",
};

function placeOf({ name, type, mode, size, linkname }: Header): Entry {
  // Some packers say no type for a plain file.
  return { name, kind: tarKinds[type ?? "file"] ?? "other", mode, size, leadsTo: linkname ?? "" };
}

async function unzip(archive: string, target: Target, signal: AbortSignal | undefined): Promise<void> {
  const zip = await openZip(archive);
  try {
    for (const entry of zip.entries) {
      signal?.throwIfAborted();
      const { name, mode, size } = entry;
      target.expect(size);
      const type = (mode ?? 0) & 0o170000;
      const kind = name.endsWith("/") ? "folder" : type === 0o120000 ? "link" : type === 0 || type === 0o100000 ? "file" : "other";
      const bytes = kind === "folder" || kind === "other" ? Buffer.alloc(0) : await zip.readAt(entry);
      const leadsTo = kind === "link" ? bytes.toString("utf8") : "";
      await target.add({ name, kind, mode: mode ?? 0o644, size, leadsTo }, [bytes]);
    }
  } finally {
    await zip.close();
  }
}

type Content = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

interface Entry {
  readonly name: string;
  /** `copy` = another entry of the archive under a second name. */
  readonly kind: "file" | "folder" | "link" | "copy" | "other";
  readonly mode: number;
  readonly size: number;
  readonly leadsTo: string;
}

class Target {
  readonly #archive: string;
  readonly #into: string;
  readonly #limits: UnpackLimits;
  readonly #kinds = new Map<string, Entry["kind"]>();
  readonly #links: { readonly path: string; readonly leadsTo: string }[] = [];
  #bytes = 0;

  constructor(archive: string, into: string, limits: UnpackLimits) {
    this.#archive = archive;
    this.#into = into;
    this.#limits = limits;
  }

  async add(entry: Entry, content: Content): Promise<void> {
    const path = this.#placeOf(entry.name);
    if (entry.kind === "other") throw this.#refusal(`${shown(entry.name)} is neither a file nor a folder nor a link`);
    if (path === "." && entry.kind !== "folder") throw this.#refusal(`${shown(entry.name)} is no name for a file`);
    const before = this.#kinds.get(path);
    if (before !== undefined && (before !== "folder" || entry.kind !== "folder")) throw this.#refusal(`${shown(entry.name)} is there twice`);
    this.#kinds.set(path, entry.kind);
    if (this.#kinds.size > this.#limits.entries) throw this.#refusal(`it has more than ${this.#limits.entries} entries`);
    await this.#makeFolder(entry.kind === "folder" ? path : posix.dirname(path), entry.name);
    if (entry.kind === "link") this.#links.push({ path, leadsTo: this.#checkedLink(path, entry.leadsTo) });
    if (entry.kind === "copy") await this.#copy(path, entry);
    if (entry.kind === "file") await this.#write(path, entry, content);
  }

  /** Links are made last, so that nothing is written through one. */
  async finish(): Promise<void> {
    for (const { path, leadsTo } of this.#links) await symlink(leadsTo, join(this.#into, path));
  }

  /** Before anything of that size is unpacked. */
  expect(size: number): void {
    if (this.#bytes + size > this.#limits.bytes) throw this.#tooLarge();
  }

  #placeOf(name: string): string {
    const path = posix.normalize(name).replace(/\/$/, "");
    const parts = name.split("/");
    if (name === "" || name.includes("\0") || name.includes("\\")) throw this.#refusal(`${shown(name)} is no name for a file`);
    if (name.startsWith("/") || /^[A-Za-z]:/.test(name) || parts.includes("..")) throw this.#refusal(`${shown(name)} lies outside of it`);
    return path;
  }

  #checkedLink(path: string, leadsTo: string): string {
    const end = posix.join(posix.dirname(path), leadsTo);
    const parts = leadsTo.split("/").filter((part) => part !== "" && part !== ".");
    // Behind a name that is a link itself, a step up would lead elsewhere than it reads.
    const climbsLater = parts.slice(parts.findIndex((part) => part !== "..")).includes("..") && parts.some((part) => part !== "..");
    if (leadsTo === "" || leadsTo.includes("\0") || leadsTo.startsWith("/") || climbsLater || end === ".." || end.startsWith("../"))
      throw this.#refusal(`the link ${shown(path)} leads out of it, to ${shown(leadsTo)}`);
    return leadsTo;
  }

  async #makeFolder(path: string, name: string): Promise<void> {
    for (let above = path; above !== "."; above = posix.dirname(above)) {
      const kind = this.#kinds.get(above);
      if (kind !== undefined && kind !== "folder") throw this.#refusal(`${shown(name)} lies below ${shown(above)}, which is no folder`);
      // Somebody's parent, also without an entry of its own.
      if (kind === undefined) this.#kinds.set(above, "folder");
    }
    await mkdir(join(this.#into, path), { recursive: true });
  }

  async #copy(path: string, { name, leadsTo }: Entry): Promise<void> {
    const source = this.#placeOf(leadsTo);
    const kind = this.#kinds.get(source);
    if (source === path || (kind !== "file" && kind !== "copy"))
      throw this.#refusal(`${shown(name)} stands for ${shown(leadsTo)}, which is no file before it`);
    const { size } = await lstat(join(this.#into, source));
    this.expect(size);
    this.#bytes += size;
    await copyFile(join(this.#into, source), join(this.#into, path));
  }

  async #write(path: string, { size, mode }: Entry, content: Content): Promise<void> {
    this.expect(size);
    const file = createWriteStream(join(this.#into, path), { flags: "wx", mode: (mode & 0o111) === 0 ? 0o644 : 0o755 });
    await pipeline(this.#counted(content), file);
  }

  async *#counted(source: Content): AsyncGenerator<Uint8Array> {
    for await (const chunk of source) {
      this.#bytes += chunk.length;
      if (this.#bytes > this.#limits.bytes) throw this.#tooLarge();
      yield chunk;
    }
  }

  #tooLarge(): WorkbenchError {
    const mib = Math.round(this.#limits.bytes / 1024 ** 2);
    return this.#refusal(`unpacked it is larger than ${mib >= 1024 ? `${mib / 1024} GiB` : `${mib} MiB`}`);
  }

  #refusal(detail: string): WorkbenchError {
    return new WorkbenchError("task", `${this.#archive} is not unpacked: ${detail}.`, "Pack the folder of the task again, with its own files only.");
  }
}

const shown = (name: string): string => JSON.stringify(name.slice(0, 200)).slice(1, -1);
