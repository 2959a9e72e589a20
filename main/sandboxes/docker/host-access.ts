/**
 * A container's files as the service itself reaches them: where the engine runs on this machine, the service is root and the container's
 * users are the machine's own, its file system is that of its first process. Many times faster than the engine's archives.
 */
import { lstatSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import type Docker from "dockerode";
import { type DirectFiles, insidePaths } from "../contract.ts";
import { lookThrough, withFolder } from "../host-files/box-tree.ts";
import { isAlive, killQuietly, namespaceMembers, type ProcessIdentity, pidNamespace, processStat } from "../host-processes.ts";
import { answered, onceNoted } from "./engine.ts";
import type { ImageFacts } from "./image-facts.ts";

/** First process of a running container; null where its files cannot be reached by it. */
export async function reachableProcess(container: Docker.Container): Promise<ProcessIdentity | null> {
  if (process.platform !== "linux" || process.geteuid?.() !== 0) return null;
  const { State } = await answered(container.inspect());
  if (!(State.Pid > 0)) return null;
  try {
    // The engine's machine may be another one, whose numbers mean nothing here.
    const mine = readFileSync(`/proc/${State.Pid}/cgroup`, "utf8").includes(container.id);
    const sameUsers = /^\s*0\s+0\s+4294967295\s*$/.test(readFileSync(`/proc/${State.Pid}/uid_map`, "utf8"));
    const stat = processStat(State.Pid);
    return mine && sameUsers && stat !== null ? { pid: State.Pid, startTime: stat.startTime } : null;
  } catch {
    return null;
  }
}

/** Somebody who was being born when the container was frozen is seen in the next round. */
const freezes = 20;

/** Every process of a container now. */
export function processesOfContainer(first: ProcessIdentity): readonly ProcessIdentity[] {
  const namespace = pidNamespace(first.pid);
  return namespace === null ? [] : namespaceMembers(namespace).flatMap((pid) => processStat(pid) ?? []);
}

/**
 * Ends every process of the container but `ours` (numbers of this machine) and the residents with what they started. It is frozen for each look, so that nothing can begin anew
 * under another number meanwhile. False when somebody still lives, or when that cannot be seen.
 */
export async function endStrangers(
  container: Docker.Container,
  first: ProcessIdentity,
  ours: ReadonlySet<string>,
  residents: ReadonlyMap<number, string>,
): Promise<boolean> {
  const isResident = (pid: number): boolean => {
    const stat = ours.has(String(pid)) ? null : processStat(pid);
    return stat !== null && (residents.get(pid) === stat.startTime || isResident(stat.parent));
  };
  for (let round = 0; round < freezes; round += 1) {
    await onceNoted(() => container.pause(), /already paused/i);
    try {
      const namespace = isAlive(first) ? pidNamespace(first.pid) : null;
      if (namespace === null) return false;
      const strangers = namespaceMembers(namespace).filter(
        (member) => !ours.has(String(member)) && processStat(member) !== null && !isResident(member),
      );
      if (strangers.length === 0) return true;
      for (const stranger of strangers) killQuietly(stranger);
    } finally {
      await onceNoted(() => container.unpause(), /is not paused/i);
    }
  }
  return false;
}

const systemTools = "sh bash env cat grep sed test [ head tail sort diff cmp cut tr wc date mkdir rm cp mv chmod ls true false echo expr".split(" ");
const scratch = ["/tmp", "/var/tmp", "/home/agent", "/logs", "/tests", "/solution", "/runtime"];
const usualPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** Which programs a verifier can rely on, by who may write to their folders and by what changed since the container was made. */
export async function trustedPrograms(first: ProcessIdentity, facts: ImageFacts, workdir: string): ReturnType<DirectFiles["programs"]> {
  const path: string[] = [];
  for (const folder of `${facts.environment.PATH ?? usualPath}:/opt/openforge/bin`.split(":")) {
    if (await isSafe(first, facts, folder, workdir)) path.push(folder);
  }
  return { path, replaced: await replacedTools(first, facts, path) };
}

async function isSafe(first: ProcessIdentity, { uid, gid }: ImageFacts, folder: string, workdir: string): Promise<boolean> {
  if (!folder.startsWith("/") || [...scratch, workdir].some((root) => folder === root || folder.startsWith(`${root}/`))) return false;
  const found = await lookThrough(first, folder);
  if (found === null) return true;
  if ((found.mode & 0o002) !== 0) return false;
  // Root owns the system's folders: for him counts what has changed in them.
  if (uid === 0) return true;
  return found.uid !== uid && ((found.mode & 0o020) === 0 || (found.gid === 0 && gid !== 0));
}

/** Only where the agent owns them. */
async function replacedTools(first: ProcessIdentity, { uid }: ImageFacts, path: readonly string[]): Promise<readonly string[]> {
  const madeAt = uid === 0 ? await containerMadeAt(first) : null;
  if (madeAt === null) return [];
  const changed: string[] = [];
  for (const file of [
    ...path.flatMap((folder) => systemTools.map((tool) => posix.join(folder, tool))),
    ...(await loaders(first)),
    ...(await pythonStarts(first)),
    "/etc/ld.so.preload",
    insidePaths.node,
  ]) {
    const [itself, target] = [await lookAt(first, file), await lookThrough(first, file)];
    if ([itself, target].some((stats) => stats !== null && stats.ctimeMs > madeAt)) changed.push(file);
  }
  return changed;
}

/** The engine writes this file when it makes a container, on a file system of its own. */
async function containerMadeAt(first: ProcessIdentity): Promise<number | null> {
  const hostname = await lookAt(first, "/etc/hostname");
  if (hostname === null || hostname.birthtimeMs === 0 || hostname.dev === lstatSync(`/proc/${first.pid}/root/`).dev) return null;
  return hostname.birthtimeMs;
}

async function loaders(first: ProcessIdentity): Promise<readonly string[]> {
  const found: string[] = [];
  for (const folder of ["/lib", "/lib64", "/usr/lib"]) {
    const names = await withFolder(first, folder, (place) => place?.names() ?? []);
    found.push(...names.filter((name) => /^ld-(linux|musl)/.test(name)).map((name) => posix.join(folder, name)));
  }
  return found;
}

/** What any Python loads as it starts: start-up modules, and path files, which may hold code. */
async function pythonStarts(first: ProcessIdentity): Promise<readonly string[]> {
  const namesIn = (folder: string) => withFolder(first, folder, (place) => place?.names() ?? []);
  const found: string[] = [];
  for (const root of ["/usr/lib", "/usr/local/lib"]) {
    const versions = (await namesIn(root)).filter((name) => name.startsWith("python3")).map((name) => posix.join(root, name));
    for (const folder of versions.flatMap((version) =>
      ["", "site-packages", "dist-packages", "lib-dynload"].map((name) => posix.join(version, name)),
    )) {
      const starts = (await namesIn(folder)).filter((name) => /^(?:site|user)customize\b|\.pth$/.test(name));
      found.push(...starts.map((name) => posix.join(folder, name)));
    }
  }
  return found;
}

const lookAt = (first: ProcessIdentity, path: string) => withFolder(first, posix.dirname(path), (place) => place?.look(posix.basename(path)) ?? null);
