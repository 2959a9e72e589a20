/** The command line of bubblewrap: exactly what the box sees and what it does not. */
import { lstatSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { insidePaths } from "../contract.ts";
import { accountFiles, writableFolders } from "./box-folder.ts";

export interface BoxMounts {
  /** The box's folder, at a path that the box's user can reach. */
  readonly folder: string;
  readonly node: string;
  readonly harness: string | null;
  readonly workdir: string;
}

/** Of the machine's own distribution: programs and libraries, nothing that a person or a service keeps. */
const systemFolders = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];
const systemSettings = ["/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/os-release", "/etc/debian_version"];
const certificates = ["/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/ca-certificates", "/etc/pki/tls/certs", "/etc/pki/ca-trust"];

const sharedMemoryBytes = 256 * 1024 ** 2;

/** Path inside → whether a task's working folder may be there. */
export function workdirRefusal(workdir: string): string | null {
  const taken = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/etc",
    "/proc",
    "/dev",
    "/sys",
    "/run",
    insidePaths.harness,
    "/opt/openforge",
  ];
  if (!workdir.startsWith("/") || workdir === "/") return "is no folder of its own";
  return taken.some((path) => workdir === path || workdir.startsWith(`${path}/`)) ? "lies in a read-only part of the local sandbox" : null;
}

/** Whether a folder is one of the standing writable ones, or inside one. */
export function isInWritableFolder(path: string): boolean {
  return Object.values(writableFolders).some((inside) => path === inside) || isBelowWritableFolder(path);
}

export function isBelowWritableFolder(path: string): boolean {
  return Object.values(writableFolders).some((inside) => path.startsWith(`${inside}/`));
}

export function bubblewrapArguments(mounts: BoxMounts): readonly string[] {
  const args = ["--tmpfs", "/"];
  const folder = (path: string): number => args.push("--perms", "0755", "--dir", path);
  for (const path of systemFolders) args.push(...systemFolder(path));
  for (const path of ["/etc", "/home", "/opt", "/opt/openforge", "/opt/openforge/bin", "/var", "/run"]) folder(path);
  for (const name of Object.keys(accountFiles)) args.push("--ro-bind", join(mounts.folder, "etc", name), `/etc/${name}`);
  for (const path of [...systemSettings, ...certificates]) args.push("--ro-bind-try", path, path);
  args.push("--dev", "/dev", "--size", String(sharedMemoryBytes), "--tmpfs", "/dev/shm", "--remount-ro", "/dev", "--proc", "/proc");
  for (const [name, inside] of Object.entries(writableFolders)) args.push("--bind", join(mounts.folder, name), inside);
  if (!isInWritableFolder(mounts.workdir)) args.push("--bind", join(mounts.folder, "work"), mounts.workdir);
  args.push("--ro-bind", mounts.node, insidePaths.node);
  if (mounts.harness !== null) args.push("--ro-bind", mounts.harness, insidePaths.harness);
  args.push("--remount-ro", "/", "--chdir", "/", "--unshare-all", "--hostname", "sandbox");
  // Root *inside* only, and without any capability: the first process must own the namespaces that every exec enters.
  args.push("--uid", "0", "--gid", "0", "--cap-drop", "ALL");
  args.push("--die-with-parent", "--new-session", "--clearenv", "--setenv", "PATH", "/usr/bin:/bin", "--as-pid-1", "--info-fd", "3");
  return args;
}

/** A link stays a link (`/bin` → `usr/bin`); a folder is bound read-only. */
function systemFolder(path: string): readonly string[] {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return [];
  return found.isSymbolicLink() ? ["--symlink", readlinkSync(path), path] : ["--ro-bind", path, path];
}

/**
 * The first process: reads the service's lifeline and ends with it. Ignoring SIGCHLD makes the kernel reap orphans; nothing inside can
 * end it.
 */
export const firstProcess = ["/bin/sh", "-c", "echo ready; exec env --ignore-signal=CHLD cat >/dev/null"] as const;
