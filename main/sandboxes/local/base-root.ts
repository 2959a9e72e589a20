/**
 * The read-only root that all boxes of one shape share: mount points, links to the system's folders, and a few settings. It is made once
 * and bound, which costs a box two mounts where laying it out anew would cost it forty.
 */
import { createHash, randomBytes } from "node:crypto";
import { chmodSync, existsSync, lstatSync, mkdirSync, readFileSync, readlinkSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { insidePaths } from "../contract.ts";
import { writableFolders } from "./box-folder.ts";

/** Of the machine's own distribution: programs and libraries, nothing that a person or a service keeps. */
const systemFolders = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];
const copiedSettings = ["/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/os-release", "/etc/debian_version", "/etc/ssl/openssl.cnf"];
const boundSettings = ["/etc/alternatives", "/etc/ld.so.conf.d", "/etc/ssl/certs", "/etc/ca-certificates", "/etc/pki/tls/certs", "/etc/pki/ca-trust"];

/** Minimal account and name-service files; `agent` is the one user. The resolver points at nothing, so that look-ups fail at once. */
const accountFiles: Readonly<Record<string, string>> = {
  passwd: "root:x:0:0:root:/nonexistent:/usr/sbin/nologin\nagent:x:1000:1000:agent:/home/agent:/bin/sh\n",
  group: "root:x:0:\nagent:x:1000:\n",
  hosts: "127.0.0.1 localhost sandbox\n::1 localhost\n",
  hostname: "sandbox\n",
  "resolv.conf": "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n",
  "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
};

export interface RootShape {
  readonly harness: boolean;
  /** A working folder that is in none of the standing writable ones. */
  readonly workdir: string | null;
}

export interface BaseRoot {
  readonly folder: string;
  /** Folders of the machine that are bound over it, read-only, at the same path. */
  readonly bound: readonly string[];
}

/** `parent` receives one folder a content; one that is there already, made by whomever, is the same. */
export function makeBaseRoot(parent: string, shape: RootShape): BaseRoot {
  const bound = [...systemFolders, ...boundSettings].filter((path) => entryOf(path) === "folder");
  const links = systemFolders.filter((path) => entryOf(path) === "link").map((path): [string, string] => [path, readlinkSync(path)]);
  const folders = [...bound, ...Object.values(writableFolders), "/dev", "/proc", "/run"];
  if (shape.harness) folders.push(insidePaths.harness);
  if (shape.workdir !== null) folders.push(shape.workdir);
  const files: [string, Buffer][] = [[insidePaths.node, Buffer.alloc(0)]];
  for (const [name, text] of Object.entries(accountFiles)) files.push([`/etc/${name}`, Buffer.from(text)]);
  for (const path of copiedSettings) if (entryOf(path) !== null) files.push([path, readFileSync(path)]);

  const content = createHash("sha256").update(JSON.stringify([folders, links]));
  for (const [path, bytes] of files) content.update(`${path}\0${bytes.length}\0`).update(bytes);
  const folder = join(parent, content.digest("hex").slice(0, 16));
  if (existsSync(folder)) return { folder, bound };

  const beside = `${folder}.${randomBytes(4).toString("hex")}`;
  for (const path of folders) makeFolders(beside, path);
  for (const [path, target] of links) symlinkSync(target, join(beside, path));
  for (const [path, bytes] of files) {
    makeFolders(beside, dirname(path));
    writeFileSync(join(beside, path), bytes);
    chmodSync(join(beside, path), 0o644);
  }
  try {
    renameSync(beside, folder);
  } catch (error) {
    rmSync(beside, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
  return { folder, bound };
}

/** With exact modes, whatever the service's umask: the box's user is another one. */
function makeFolders(root: string, path: string): void {
  let current = root;
  for (const name of ["", ...path.split("/").filter(Boolean)]) {
    current = join(current, name);
    if (existsSync(current)) continue;
    mkdirSync(current, { recursive: true });
    chmodSync(current, 0o755);
  }
}

/** A link stays a link (`/bin` → `usr/bin`); a folder is bound, a file copied. */
function entryOf(path: string): "folder" | "link" | "file" | null {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return null;
  return found.isDirectory() ? "folder" : found.isSymbolicLink() ? "link" : "file";
}
