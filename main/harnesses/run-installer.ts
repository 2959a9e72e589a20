/** Runs a package manager, passes on its lines, and turns its failure into one sentence. Cancelling ends its whole process group. */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { WorkbenchError } from "../errors.ts";

export interface InstallerRun {
  readonly harness: string;
  readonly command: string;
  readonly args: readonly string[];
  /** On top of this process's own. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly onProgress: (line: string) => void;
  readonly signal: AbortSignal;
}

const keptLines = 40;

/** Resolves when the installer ended well; rejects with a WorkbenchError otherwise. */
export async function runInstaller(run: InstallerRun): Promise<void> {
  const isCancelled = (): boolean => run.signal.aborted;
  if (isCancelled()) throw failure(run, "cancelled", []);
  // A group of its own: compilers and fetchers that it started must end with it.
  const child = spawn(run.command, run.args, {
    cwd: run.cwd,
    env: { ...process.env, ...run.env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const cancel = (): void => endGroup(child.pid);
  run.signal.addEventListener("abort", cancel, { once: true });
  const last: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on("line", (line) => {
      if (line.trim() === "" || line === last.at(-1)) return;
      last.push(line);
      if (last.length > keptLines) last.shift();
      run.onProgress(line);
    });
  }
  const exit = await new Promise<number | null | Error>((resolve) => {
    child.once("error", resolve);
    child.once("close", resolve);
  });
  run.signal.removeEventListener("abort", cancel);
  if (exit === 0) return;
  throw failure(run, isCancelled() ? "cancelled" : exit, last);
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGTERM");
  } catch (error) {
    // It has just ended by itself.
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

function failure(run: InstallerRun, exit: number | null | Error | "cancelled", lines: readonly string[]): WorkbenchError {
  const what = `Harness ${run.harness} could not be installed`;
  const text = lines.join("\n");
  if (exit === "cancelled") return new WorkbenchError("harness", `${what}: it was cancelled.`, "Start it again.", { exitCode: 130 });
  if (exit instanceof Error) {
    return new WorkbenchError(
      "unavailable",
      `${what}: ${run.command} was not found on this machine.`,
      `Install ${run.command} and make sure that it is on the PATH.`,
    );
  }
  if (
    /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|Could not resolve host|Failed to establish a new connection|ENOTCACHED/.test(
      text,
    )
  ) {
    return new WorkbenchError(
      "unavailable",
      `${what}: the package registry cannot be reached.`,
      "Connect this machine to the network, or install once elsewhere with the same OPENFORGE_CACHE.",
    );
  }
  if (/ETARGET|E404|No matching version|No matching distribution|could not find `/.test(text)) {
    return new WorkbenchError("harness", `${what}: the registry has no such package or version.`, "Correct `install` in its manifest.", {
      exitCode: 2,
    });
  }
  if (/ENOSPC|No space left/.test(text)) return new WorkbenchError("harness", `${what}: the disk is full.`, "Make room and try again.");
  // Cargo tells the reason first and what it made impossible afterwards.
  const told =
    lines.find((line) => /^error[:[]/.test(line)) ??
    lines.findLast((line) => /error|ERR/i.test(line)) ??
    lines.at(-1) ??
    `exit code ${exit ?? "unknown"}`;
  return new WorkbenchError("harness", `${what}: ${told.trim()}`, `Run \`${run.command} ${run.args.join(" ")}\` by hand to see more.`);
}
