import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

export interface StandIn {
  readonly url: string;
  stop(): void;
}

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** Starts the stand-in service as a process of its own and answers with the address of its window. */
export function startStandIn(options: readonly string[] = []): Promise<StandIn> {
  const child = spawn(process.execPath, ["node_modules/tsx/dist/cli.mjs", "tests/stand-ins/workbench-service/main.ts", ...options], {
    cwd: root,
    stdio: ["ignore", "pipe", "inherit"],
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`the stand-in service ended with ${code}`)));
    child.stdout.on("data", (chunk: Buffer) => {
      const url = /Workbench at (\S+)/.exec(String(chunk))?.[1];
      if (url !== undefined) resolve({ url, stop: () => void child.kill() });
    });
  });
}
