/**
 * The namespaces of one box, held by a first process that bubblewrap starts and that does nothing. Every exec enters them from outside
 * (`nsenter`) and becomes the one user `agent` in a child user namespace of its own: it has no capability, cannot trace the first
 * process, and no process of ours runs inside for it to tamper with. When the first process ends, the kernel ends all the others.
 *
 * No box outlives its service, at whatever moment that is killed. bubblewrap's own `--die-with-parent` leaves gaps while a box starts, so
 * there is a lifeline: a pipe whose other end only the service holds. When it closes, the first process ends by itself, and a watcher
 * outside ends what has not come that far. (`--die-with-parent` means the thread: boxes are started from the main thread only.)
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, lstatSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import type { WorkbenchError } from "../../errors.ts";
import { sandboxError, unavailable } from "../sandbox-error.ts";
import { bubblewrapArguments, firstProcess } from "./bubblewrap.ts";
import { joinCgroups } from "./cgroups.ts";
import { killQuietly, killUntilNone, namespaceMembers, pidNamespace, processStat } from "./host-processes.ts";
import type { BoxIdentity } from "./identity.ts";

const startLimitMs = 20_000;
const endLimitMs = 10_000;

export interface NamespaceOptions {
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
  /** Prefix that runs a program inside as root of the box's user namespace; the program must give that up (`becomeAgent`). */
  readonly enter: readonly string[];
  /** Living processes but the first. */
  members(): Promise<readonly number[]>;
  /** Ends every process but the first; throws when one will not go. */
  killAll(): Promise<void>;
  end(): Promise<void>;
}

/** Goes behind `enter`: an unprivileged user, for good. */
export const becomeAgent = ["unshare", "--user", "--map-user=1000", "--map-group=1000", "--", "setpriv", "--no-new-privs"] as const;

export async function startNamespace(options: NamespaceOptions): Promise<Namespace> {
  const command = joinCgroups(options.cgroups, launcher(options));
  const child = spawn("/bin/sh", ["-c", lifeline, "sh", ...command], {
    cwd: "/",
    env: toolEnvironment(),
    detached: true,
    stdio: ["pipe", "pipe", "pipe", "pipe"],
  });
  child.stdin?.on("error", () => undefined);
  child.once("exit", () => child.stdin?.destroy());
  const pid = await firstProcessOf(child).catch((error: unknown) => {
    child.stdin?.destroy();
    throw error;
  });
  for (const stream of child.stdio.slice(1)) stream?.destroy();
  child.unref();
  const [stat, namespace] = await Promise.all([processStat(pid), pidNamespace(pid)]);
  if (stat === null || namespace === null) throw cannotStart("its first process ended at once");
  let alive = true;
  child.once("exit", () => {
    alive = false;
  });
  const { identity } = options;
  const privileged = process.geteuid?.() === 0;
  const members = async (): Promise<readonly number[]> => (await namespaceMembers(namespace)).filter((member) => member !== pid);
  return {
    init: { pid, startTime: stat.startTime },
    get alive() {
      return alive;
    },
    enterNetwork: ["nsenter", `--target=${pid}`, "--net", ...(privileged ? [] : ["--user", "--preserve-credentials"])],
    enter: [
      ...identity.become,
      ...["nsenter", `--target=${pid}`, "--user", "--mount", "--pid", "--net", "--ipc", "--uts", "--preserve-credentials", "--"],
    ],
    members,
    killAll: async () => {
      // One signal to all at once beats a program that forks faster than we can list; the list then proves it.
      const everything = [...identity.become, "nsenter", `--target=${pid}`, "--user", "--pid", "--preserve-credentials", "--", ...killEveryProcess];
      await endOf(spawnTool(everything));
      if (!(await killUntilNone(members, endLimitMs, () => endOf(spawnTool(everything))))) throw unending();
    },
    end: async () => {
      // Its parent outside reaps the first process and ends by itself; cutting the lifeline first would leave that to the machine's init.
      killQuietly(pid);
      for (let waited = 0; alive && waited < endLimitMs; waited += 2) await delay(2);
      child.stdin?.destroy();
      if (!(await killUntilNone(() => namespaceMembers(namespace), endLimitMs))) throw unending();
    },
  };
}

/** Watches its standard input in the background and ends its process group with it; becomes the command, which inherits that input. */
const lifeline = `exec 4<&0
(exec >/dev/null 2>&1 3>&-; cat <&4; kill -KILL 0) &
exec "$@" 0<&4 4<&-`;

const killEveryProcess = ["/bin/sh", "-c", "kill -KILL -1"] as const;

function spawnTool(command: readonly string[]): ChildProcess {
  const [program = "", ...args] = command;
  return spawn(program, args, { cwd: "/", env: toolEnvironment(), stdio: "ignore" });
}

async function endOf(child: ChildProcess): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", () => resolve());
  });
}

/**
 * Our tools get nothing of the service's environment, its search path neither: half of them are looked up inside, before they have given
 * up their rights, and must come from the read-only system folders.
 */
export function toolEnvironment(): NodeJS.ProcessEnv {
  return { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", LANG: "C.UTF-8" };
}

function launcher({ folder, workdir, harness, identity }: NamespaceOptions): readonly string[] {
  const node = process.execPath;
  if (!identity.lent) return ["bwrap", ...bubblewrapArguments({ folder, node, harness, workdir }), ...firstProcess];
  // The lent user cannot walk into the service's folders: they are bound to where it can, in a mount namespace of this launch.
  const stage = stagingFolder([folder, node, ...(harness === null ? [] : [harness])]);
  const staged = { folder: `${stage}/box`, node: `${stage}/node`, harness: harness === null ? null : `${stage}/harness`, workdir };
  const script = [
    `mount -t tmpfs -o mode=0755,size=64k none ${stage}`,
    `cd ${stage}`,
    "mkdir box harness",
    ": > node",
    'mount --bind "$1" box',
    'mount --bind "$2" node',
    'if [ -n "$3" ]; then mount --bind "$3" harness; fi',
    "shift 3",
    'exec "$@"',
  ].join(" && ");
  const rest = [...identity.become, "bwrap", ...bubblewrapArguments(staged), ...firstProcess];
  return ["unshare", "--mount", "--propagation", "private", "/bin/sh", "-c", script, "sh", folder, node, harness ?? "", ...rest];
}

/** An existing folder that hides none of the sources when something is mounted over it. */
function stagingFolder(sources: readonly string[]): string {
  const found = ["/mnt", "/media", "/srv", "/opt", "/home"].find(
    (path) => existsSync(path) && lstatSync(path).isDirectory() && !sources.some((source) => source.startsWith(`${path}/`)),
  );
  if (found === undefined) throw unavailable("The local sandbox finds no folder to prepare its mounts in.", "Create an empty folder /mnt.");
  return found;
}

async function firstProcessOf(child: ChildProcess): Promise<number> {
  const [, output, complaints, info] = child.stdio;
  let said = "";
  let complaint = "";
  let told = "";
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      reject(cannotStart(`it was not ready after ${startLimitMs / 1000} seconds`));
    }, startLimitMs);
    const settle = (): void => {
      const pid = Number(/"child-pid":\s*(\d+)/.exec(told)?.[1]);
      if (!said.includes("ready") || !(pid > 0)) return;
      clearTimeout(timer);
      resolve(pid);
    };
    output?.on("data", (chunk: Buffer) => {
      said += chunk.toString();
      settle();
    });
    info?.on("data", (chunk: Buffer) => {
      told += chunk.toString();
      settle();
    });
    complaints?.on("data", (chunk: Buffer) => {
      complaint = (complaint + chunk.toString()).slice(-2000);
    });
    child.once("error", (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      reject(error.code === "ENOENT" ? toolMissing(error.path ?? "a program") : cannotStart(error.message));
    });
    child.once("close", () => {
      clearTimeout(timer);
      reject(startRefusal(complaint.trim()));
    });
  });
}

/** What the words of a launcher that failed mean for a person. */
export function startRefusal(complaint: string): WorkbenchError {
  const missing = /(?:exec:?|execute|exec of) (?:"|')?([\w-]+)(?:"|')?:? ?(?:not found|failed|.*No such file)|: ([\w-]+): not found/.exec(complaint);
  if (missing) return toolMissing(missing[1] ?? missing[2] ?? "a program");
  return cannotStart(complaint || "it ended without a word");
}

function toolMissing(program: string): WorkbenchError {
  const wanted = program.includes("bwrap") || program.includes("setpriv") ? "bubblewrap and util-linux" : "util-linux";
  return unavailable(
    `The local sandbox needs the program ${program}, which this machine lacks.`,
    `Install ${wanted} (Debian, Ubuntu: apt install bubblewrap util-linux).`,
  );
}

function unending(): Error {
  return sandboxError("sandbox-lost", "A process of the sandbox cannot be ended.", "Look for a stuck disk or device on this machine.");
}

function cannotStart(detail: string): WorkbenchError {
  return unavailable(
    `The local sandbox cannot be had on this machine: ${detail}.`,
    "Allow user namespaces (sysctl kernel.unprivileged_userns_clone=1, user.max_user_namespaces above 0; on Ubuntu an AppArmor profile for bwrap), or use --sandbox docker.",
  );
}
