/**
 * The namespaces of one box, held by a first process that bubblewrap starts (`box-shell.ts`). A command is started by it, or enters from
 * outside (`nsenter`) when the first process is busy; either way it becomes the one user `agent` in a child user namespace of its own: it
 * has no capability and cannot trace the first process. When the first process ends, the kernel ends all the others.
 *
 * No box outlives its service, at whatever moment that is killed. bubblewrap's own `--die-with-parent` leaves gaps while a box starts, so
 * there is a lifeline: a pipe whose other end only the launcher holds. When that ends, a first process with nothing to do
 * ends by itself, also one that has only just begun; one that waits for a command is ended by `--die-with-parent`. (`--die-with-parent` means the thread: boxes are started from the launcher's main thread.)
 */
import { existsSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { killQuietly, killUntilNone, namespaceMembers, pidNamespace, processStat } from "../host-processes.ts";
import { sandboxError } from "../sandbox-error.ts";
import type { BaseRoot } from "./base-root.ts";
import { firstPairDescriptor, firstProcess, turnCount } from "./box-shell.ts";
import { bubblewrapArguments } from "./bubblewrap.ts";
import { joinCgroups } from "./cgroups.ts";
import { type BoxIdentity, becomeUser } from "./identity.ts";
import type { Launched, Launcher, TurnRequest } from "./launcher.ts";
import { cannotStart, type SystemTools, startRefusal, toolEnvironment } from "./system-tools.ts";

const startLimitMs = 20_000;
const endLimitMs = 10_000;
const complaintLimit = 2_000;
const spareProcesses = 8;

export interface NamespaceOptions {
  readonly launcher: Launcher;
  readonly tools: SystemTools;
  readonly root: BaseRoot;
  readonly folder: string;
  readonly workdir: string;
  readonly harness: string | null;
  readonly identity: BoxIdentity;
  /** cgroup folders that every process of the box joins. */
  readonly cgroups: readonly string[];
}

export interface Namespace {
  /** First process, as the machine numbers it. */
  readonly init: { readonly pid: number; readonly startTime: string };
  readonly alive: boolean;
  /** Prefix that runs a program of the machine in the box's network only. */
  readonly enterNetwork: readonly string[];
  /** Prefix that runs a program inside as root of the box's user namespace, without new privileges; it must give that up (`becomeAgent`). */
  readonly enter: readonly string[];
  /** Lets the first process start a command; null while it has one, and when it has started as many as it can. */
  takeTurn(start: (turn: number) => Omit<TurnRequest, "out">): Launched | null;
  /** Living processes but the first. */
  members(): readonly number[];
  /** Ends every process but the first; throws when one will not go. */
  killAll(): Promise<void>;
  end(): Promise<void>;
}

export async function startNamespace(options: NamespaceOptions): Promise<Namespace> {
  const { launcher, tools, identity, cgroups } = options;
  const { launched, pid } = await startFirstProcess(options);
  const stat = processStat(pid);
  const namespace = pidNamespace(pid);
  if (stat === null || namespace === null) throw cannotStart("its first process ended at once");
  const privileged = process.geteuid?.() === 0;
  // Every group holds the same processes.
  const groups = cgroups.slice(0, 1).map((folder) => `${folder}/cgroup.procs`);
  const members = (): readonly number[] => namespaceMembers(namespace, groups).filter((member) => member !== pid);
  const enter = [
    ...becomeUser(tools, identity, true),
    ...[tools.nsenter, `--target=${pid}`, "--user", "--mount", "--pid", "--net", "--ipc", "--uts", "--preserve-credentials", "--"],
  ];
  const killEverything = async (): Promise<void> => {
    const command = [...enter, "/bin/sh", "-c", "kill -KILL -1"];
    // It ends itself with the others, at times before it can be waited for; what counts is who is left.
    await launcher.launch({ command, env: toolEnvironment(), outputLimitBytes: 0, onOutput: () => undefined }).end;
  };
  let turns = 0;
  let inTurn = false;
  const takeTurn = (start: (turn: number) => Omit<TurnRequest, "out">): Launched | null => {
    if (inTurn || turns >= turnCount || nearlyFull(cgroups)) return null;
    const turn = turns;
    turns += 1;
    inTurn = true;
    const started = launcher.takeTurn(launched, { ...start(turn), out: firstPairDescriptor + 2 * turn });
    const over = (): void => {
      inTurn = false;
    };
    started.end.then(over, over);
    return started;
  };
  return {
    takeTurn,
    init: { pid, startTime: stat.startTime },
    get alive() {
      return launched.running;
    },
    enterNetwork: [tools.nsenter, `--target=${pid}`, "--net", ...(privileged ? [] : ["--user", "--preserve-credentials"])],
    enter,
    members,
    killAll: async () => {
      if (members().length === 0) return;
      // One signal to all at once beats a program that forks faster than we can list; the list then proves it.
      await killEverything();
      if (!(await killUntilNone(members, endLimitMs, killEverything))) throw unending();
    },
    end: async () => {
      // The kernel lets a first process go only when all the others of its namespace are gone.
      if (launched.running) killQuietly(pid);
      const ended = launched.end.then(
        () => true,
        () => true,
      );
      if (!(await Promise.race([ended, delay(endLimitMs, false, { ref: false })]))) throw unending();
    },
  };
}

async function startFirstProcess(options: NamespaceOptions): Promise<{ readonly launched: Launched; readonly pid: number }> {
  const { launcher, tools, identity, cgroups, root, workdir } = options;
  const [folder, rootFolder, node, harness] = await Promise.all([
    reachBox(launcher, options.folder),
    launcher.reach(root.folder),
    launcher.reach(process.execPath),
    options.harness === null ? null : launcher.reach(options.harness),
  ]);
  const mounts = bubblewrapArguments({ root: { ...root, folder: rootFolder }, folder, node, harness, workdir });
  const command = joinCgroups(tools, cgroups, [...becomeUser(tools, identity, false), tools.bwrap, ...mounts, ...firstProcess(tools)]);
  const said = { 1: "", 2: "", 3: "" };
  let look: () => void = () => undefined;
  const launched = launcher.launch({
    command,
    env: toolEnvironment(),
    box: { firstPair: firstPairDescriptor, pairs: turnCount },
    outputLimitBytes: complaintLimit,
    onOutput: (stream, bytes) => {
      said[stream] += bytes.toString();
      look();
    },
  });
  const timeout = new AbortController();
  try {
    const pid = await Promise.race([
      new Promise<number>((resolve) => {
        look = () => {
          const child = Number(/"child-pid":\s*(\d+)/.exec(said[3])?.[1]);
          if (said[1].includes("ready") && child > 0) resolve(child);
        };
      }),
      launched.end.then(() => {
        throw startRefusal(said[2].trim());
      }),
      delay(startLimitMs, 0, { signal: timeout.signal }).then(() => {
        throw cannotStart(`it was not ready after ${startLimitMs / 1000} seconds`);
      }),
    ]);
    return { launched, pid };
  } catch (error) {
    launched.letGo();
    launched.kill();
    throw error;
  } finally {
    timeout.abort();
  }
}

/** The first process must not be the one that finds no number left for a process. */
function nearlyFull(cgroups: readonly string[]): boolean {
  const folder = cgroups.find((path) => existsSync(`${path}/pids.max`));
  if (folder === undefined) return false;
  const [current, most] = ["current", "max"].map((name) => Number(readFileSync(`${folder}/pids.${name}`, "utf8")));
  return (most ?? 0) - (current ?? 0) < spareProcesses;
}

/** Boxes come and go in one folder, which is bound as a whole. */
async function reachBox(launcher: Launcher, folder: string): Promise<string> {
  const cut = folder.lastIndexOf("/");
  return `${await launcher.reach(folder.slice(0, cut))}${folder.slice(cut)}`;
}

function unending(): Error {
  return sandboxError("sandbox-lost", "A process of the sandbox cannot be ended.", "Look for a stuck disk or device on this machine.");
}
