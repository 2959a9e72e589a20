/** The machine's own programs that boxes are made and entered with. */
import { accessSync, constants } from "node:fs";
import type { WorkbenchError } from "../../errors.ts";
import { unavailable } from "../sandbox-error.ts";

const names = ["sh", "bash", "bwrap", "setpriv", "nsenter", "unshare", "prlimit", "env"] as const;
/** Absolute paths, in folders that only the system's administrator writes to. */
export type SystemTools = Readonly<Record<(typeof names)[number], string>>;

const systemPath = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/** Throws a WorkbenchError (exit code 3) that names the program which is missing. */
export function findSystemTools(): SystemTools {
  return Object.fromEntries(names.map((name) => [name, findTool(name)])) as SystemTools;
}

function findTool(name: string): string {
  for (const folder of systemPath) {
    try {
      accessSync(`${folder}/${name}`, constants.X_OK);
      return `${folder}/${name}`;
    } catch {
      // The next folder may have it.
    }
  }
  throw toolMissing(name);
}

/** Our tools get nothing of the service's environment. */
export function toolEnvironment(): Record<string, string> {
  return { PATH: systemPath.join(":"), LANG: "C.UTF-8" };
}

/** What the words of a launcher that failed mean for a person. */
export function startRefusal(complaint: string): WorkbenchError {
  const missing = /(?:exec:?|execute|exec of) (?:"|')?([\w-]+)(?:"|')?:? ?(?:not found|failed|.*No such file)|: ([\w-]+): not found/.exec(complaint);
  if (missing) return toolMissing(missing[1] ?? missing[2] ?? "a program");
  return cannotStart(complaint || "it ended without a word");
}

function toolMissing(program: string): WorkbenchError {
  const wanted = program === "bash" ? "bash" : program.includes("bwrap") || program.includes("setpriv") ? "bubblewrap and util-linux" : "util-linux";
  return unavailable(
    `The local sandbox needs the program ${program}, which this machine lacks.`,
    `Install ${wanted} (Debian, Ubuntu: apt install bubblewrap util-linux).`,
  );
}

export function cannotStart(detail: string): WorkbenchError {
  return unavailable(
    `The local sandbox cannot be had on this machine: ${detail}.`,
    "Allow user namespaces (sysctl kernel.unprivileged_userns_clone=1, user.max_user_namespaces above 0; on Ubuntu an AppArmor profile for bwrap), or use --sandbox docker.",
  );
}
