/** What a rollout must not leave: counted on this machine, for one data folder and one owner. Linux. */
import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

export interface Places {
  readonly dataFolder: string;
  /** Of proxy sockets. */
  readonly runtimeFolder: string;
  /** What the service takes for the system's folder for passing files. */
  readonly temporaryFolder: string;
  readonly ownerId: string;
  readonly docker: boolean;
}

/** One line each, by what it is; a place whose number is known to be steady is left out of what is left. */
export async function leftovers(places: Places, boxNames: ReadonlySet<string>): Promise<readonly string[]> {
  const inData = (path: string): readonly string[] => names(join(places.dataFolder, path)).map((name) => `folder ${path}/${name}`);
  return [
    ...processesBelow(process.pid).map((pid) => `process ${pid} ${commandLine(pid)}`),
    ...processesIn(places.dataFolder).map((pid) => `process ${pid} in a box: ${commandLine(pid)}`),
    ...[...boxNames].flatMap((name) => controlGroups(name).map((folder) => `control group ${folder}`)),
    ...names(places.runtimeFolder).map((name) => `socket ${name}`),
    ...names(places.temporaryFolder)
      .filter((name) => !standing.test(name))
      .map((name) => `temporary ${name}`),
    ...["scratch", "sandboxes/local", "sandboxes/local-trash", "sandboxes/unisolated"].flatMap(inData),
    ...(places.docker ? await inDocker(places.ownerId) : []),
  ];
}

/** The folder that sockets are in, looked into by itself, and what sources are compiled to in a checkout. */
const standing = /^(?:openforge-\d+|tsx-\d+)$/;

export const openDescriptors = (): number => names("/proc/self/fd").length;

function names(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

const processes = (): readonly number[] =>
  names("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // A process may be gone by now.
    return "";
  }
}

function commandLine(pid: number): string {
  const words = read(`/proc/${pid}/cmdline`).replaceAll("\0", " ").trim();
  // An ended process that nobody has waited for has its name only.
  return words === "" ? read(`/proc/${pid}/stat`).slice(0, 60) : words.slice(0, 80);
}

/** Children of any depth, those of this process's own tools left out. */
function processesBelow(root: number): readonly number[] {
  const parents = new Map(processes().map((pid) => [pid, Number(/\) \S (\d+)/.exec(read(`/proc/${pid}/stat`))?.[1])]));
  const isBelow = (pid: number): boolean => {
    const parent = parents.get(pid);
    return parent !== undefined && (parent === root || isBelow(parent));
  };
  return [...parents.keys()].filter((pid) => isBelow(pid) && !commandLine(pid).includes("esbuild"));
}

/** Processes that have a box of this data folder mounted, whoever their parent is. */
const processesIn = (dataFolder: string): readonly number[] =>
  processes().filter((pid) => pid !== process.pid && read(`/proc/${pid}/mountinfo`).includes(`${dataFolder}/sandboxes/local/`));

function controlGroups(box: string): readonly string[] {
  const roots = ["memory", "pids", "cpu", ""].map((controller) => join("/sys/fs/cgroup", controller));
  const group = `openforge-${box}`;
  const own = read("/proc/self/cgroup")
    .split("\n")
    .map((line) => line.split(":").slice(2).join(":"))
    .filter(Boolean);
  return roots
    .flatMap((root) => [join(root, group), ...own.map((path) => join(root, path, group))])
    .filter((path, index, all) => existsSync(path) && all.indexOf(path) === index);
}

async function inDocker(ownerId: string): Promise<readonly string[]> {
  const label = `label=openforge.owner=${ownerId}`;
  const lists: readonly (readonly [string, readonly string[]])[] = [
    ["container", ["ps", "--all", "--quiet", "--filter", label]],
    ["network", ["network", "ls", "--quiet", "--filter", label]],
    ["volume", ["volume", "ls", "--quiet", "--filter", label]],
  ];
  const found: string[] = [];
  for (const [what, args] of lists) {
    const { stdout } = await run("docker", [...args]);
    found.push(
      ...stdout
        .split("\n")
        .filter(Boolean)
        .map((id) => `${what} ${id}`),
    );
  }
  return found;
}
