/** A service in a process of its own, to be killed at any moment. */
import { type ChildProcess, spawn } from "node:child_process";

export interface KillableChild {
  readonly child: ChildProcess;
  /** Resolves when the service says `ready`, or has ended. */
  readonly ready: Promise<void>;
  /** Everything that it said. */
  readonly ended: Promise<string>;
}

export function startKillable(script: string, words: readonly string[]): KillableChild {
  const child = spawn(process.execPath, ["--import", "tsx", script, ...words], { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  let markReady: () => void = () => undefined;
  const ready = new Promise<void>((resolve) => {
    markReady = resolve;
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => {
      output += chunk;
      if (output.includes("ready")) markReady();
    });
  }
  const ended = new Promise<string>((resolve) => {
    child.once("close", () => {
      markReady();
      resolve(output);
    });
  });
  return { child, ready, ended };
}
