/** The workbench service as a plain Node child of the shell: started, watched, started again when it dies. */
import { type ChildProcess, spawn } from "node:child_process";

export interface ServiceOptions {
  readonly nodeBinary: string;
  readonly cliFile: string;
  readonly dataFolder: string | null;
  readonly onReady: (url: string) => void;
  /** Whether rollouts or training are under way. */
  readonly onBusy: (busy: boolean) => void;
  /** The service ended by itself; `willRestart` says whether the shell tries again. */
  readonly onDown: (message: string, willRestart: boolean) => void;
}

export interface ServiceProcess {
  /** Ends the service in order; resolves when it is gone, after 10 s by force. */
  stop(): Promise<void>;
}

const restartsWithinMinute = 5;
const restartDelayMs = 500;
const stopMs = 10_000;

type ServiceMessage = { readonly type: "ready"; readonly url: string } | { readonly type: "busy"; readonly busy: boolean };

function isServiceMessage(message: unknown): message is ServiceMessage {
  if (typeof message !== "object" || message === null) return false;
  const fields: Record<string, unknown> = { ...message };
  return (fields.type === "ready" && typeof fields.url === "string") || (fields.type === "busy" && typeof fields.busy === "boolean");
}

export function startServiceProcess(options: ServiceOptions): ServiceProcess {
  let child: ChildProcess | null = null;
  let stopping = false;
  let restarts: number[] = [];

  const start = (): void => {
    const data = options.dataFolder === null ? [] : ["--data", options.dataFolder];
    const started = spawn(options.nodeBinary, [options.cliFile, "serve", ...data], { stdio: ["ignore", "ignore", "pipe", "ipc"] });
    child = started;
    let lastWords = "";
    started.stderr?.setEncoding("utf8").on("data", (text: string) => {
      lastWords = (lastWords + text).slice(-2000);
    });
    started.on("message", (message) => {
      if (!isServiceMessage(message)) return;
      if (message.type === "ready") options.onReady(message.url);
      else options.onBusy(message.busy);
    });
    started.on("error", (error) => ended(`The service could not be started: ${error.message}`));
    started.on("exit", () => ended(lastWords.trim().split("\n").at(-1) ?? "The service ended."));
  };

  const ended = (message: string): void => {
    if (child === null) return;
    child = null;
    if (stopping) return;
    const now = Date.now();
    restarts = [...restarts.filter((at) => now - at < 60_000), now];
    const again = restarts.length <= restartsWithinMinute;
    options.onDown(message, again);
    if (again) setTimeout(start, restartDelayMs);
  };

  start();
  return {
    stop: async () => {
      stopping = true;
      const running = child;
      if (running === null) return;
      const gone = new Promise<void>((resolve) => running.once("exit", () => resolve()));
      running.kill("SIGTERM");
      const force = setTimeout(() => running.kill("SIGKILL"), stopMs);
      await gone;
      clearTimeout(force);
    },
  };
}
