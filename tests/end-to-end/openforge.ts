/** Runs the built command line as a person would, on a data folder of its own. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly process: ChildProcess;
  /** What was printed so far. */
  readonly stdout: () => string;
  readonly stderr: () => string;
  readonly ended: Promise<Ended>;
  /** Resolves with the first match in stdout or stderr; rejects when the process ends or the time is over. */
  waitFor(pattern: RegExp, timeoutMs?: number): Promise<RegExpExecArray>;
}

/** A data folder that is removed with `remove`. */
export function temporaryData(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), "openforge-e2e-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }) };
}

export function start(args: readonly string[], data: string, environment: Readonly<Record<string, string>> = {}): Running {
  const { DISPLAY: _display, WAYLAND_DISPLAY: _wayland, ...inherited } = process.env;
  const child = spawn(process.execPath, ["main/launch.mjs", ...args], {
    env: { ...inherited, OPENFORGE_SKIP_BUILD: "1", OPENFORGE_HOME: data, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  const watchers = new Set<() => void>();
  const tell = (): void => {
    for (const watcher of [...watchers]) watcher();
  };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
    tell();
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
    tell();
  });
  const ended = new Promise<Ended>((resolve) => child.once("close", (code) => resolve({ code, stdout, stderr })));
  return {
    process: child,
    stdout: () => stdout,
    stderr: () => stderr,
    ended,
    waitFor: (pattern, timeoutMs = 60_000) =>
      new Promise((resolve, reject) => {
        const finish = (settle: () => void): void => {
          watchers.delete(look);
          clearTimeout(timer);
          settle();
        };
        const look = (): void => {
          const match = pattern.exec(stdout) ?? pattern.exec(stderr);
          if (match !== null) finish(() => resolve(match));
        };
        const timer = setTimeout(() => finish(() => reject(new Error(`no ${pattern} within ${timeoutMs} ms:\n${stdout}\n${stderr}`))), timeoutMs);
        watchers.add(look);
        void ended.then(() => finish(() => reject(new Error(`ended without ${pattern}:\n${stdout}\n${stderr}`))));
        look();
      }),
  };
}

export function run(args: readonly string[], data: string, environment: Readonly<Record<string, string>> = {}): Promise<Ended> {
  return start(args, data, environment).ended;
}
