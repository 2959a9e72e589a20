/** The command line of bubblewrap: exactly what the box sees and what it does not. */
import { insidePaths } from "../contract.ts";
import type { BaseRoot } from "./base-root.ts";
import { writableFolders } from "./box-folder.ts";

/** Host paths that the box's user can reach. */
export interface BoxMounts {
  readonly root: BaseRoot;
  /** The box's own folder. */
  readonly folder: string;
  readonly node: string;
  readonly harness: string | null;
  readonly workdir: string;
}

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
  const args = ["--ro-bind", mounts.root.folder, "/"];
  for (const path of mounts.root.bound) args.push("--ro-bind", path, path);
  args.push("--dev", "/dev", "--size", String(sharedMemoryBytes), "--tmpfs", "/dev/shm", "--remount-ro", "/dev", "--proc", "/proc");
  for (const [name, inside] of Object.entries(writableFolders)) args.push("--bind", `${mounts.folder}/${name}`, inside);
  if (!isInWritableFolder(mounts.workdir)) args.push("--bind", `${mounts.folder}/work`, mounts.workdir);
  args.push("--ro-bind", mounts.node, insidePaths.node);
  if (mounts.harness !== null) args.push("--ro-bind", mounts.harness, insidePaths.harness);
  args.push("--chdir", "/", "--unshare-all", "--hostname", "sandbox");
  // Root *inside* only: the first process must own the namespaces that every exec enters. Its one capability lets it make user namespaces in
  // which its number is another one, for the agent; it gives none over files or processes of the machine.
  args.push("--uid", "0", "--gid", "0", "--cap-drop", "ALL", "--cap-add", "CAP_SETFCAP");
  args.push("--die-with-parent", "--new-session", "--clearenv", "--setenv", "PATH", "/usr/bin:/bin", "--as-pid-1", "--info-fd", "3");
  return args;
}
