/**
 * `openforge` without a verb, and `npm start`: a window where there can be one, else the same workbench served with its address
 * printed and, on an empty data folder, the starter experiment run at once with progress here.
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { createRouterClient } from "@orpc/server";
import { createRouter } from "../api/index.ts";
import type { TrainingResult } from "../api/training-views.ts";
import { WorkbenchError } from "../errors.ts";
import { dataFolder, productFolder } from "../machine/index.ts";
import { connectToRunning } from "./connect.ts";
import { note, print } from "./output.ts";
import { portNumber } from "./serve.ts";
import { startService, untilStopped } from "./service.ts";
import { trainingTable } from "./training-table.ts";
import { type CommonOptions, follow, guarded } from "./verb.ts";

interface StartOptions extends CommonOptions {
  readonly port?: string;
  readonly starter?: boolean;
  readonly window?: boolean;
}

const fetchMs = 120_000;

export function start(options: StartOptions): Promise<void> {
  return guarded(false, async (signal) => {
    const data = dataFolder(options.data);
    const running = await connectToRunning(data);
    const attached = running === null ? null : (await running.client.system.address()).url;
    await running?.close();
    const binary = options.window === false ? null : desktopBinary();
    if (binary !== null) return openWindow(binary, data, attached, signal);
    if (attached !== null) {
      print(`Workbench at ${attached} (it was already running)`);
      return 0;
    }
    return serveWithStarter(data, options, signal);
  });
}

async function serveWithStarter(data: string, options: StartOptions, signal: AbortSignal): Promise<0> {
  const service = await startService({ data, port: portNumber(options.port) });
  print(`Workbench at ${service.url}`);
  const why = hasDisplay() ? "" : "There is no display here: ";
  note(`${why}${why === "" ? "Open" : "open"} this address in a browser (over SSH, forward its port first). Ctrl-C ends the workbench.`);
  const client = createRouterClient(createRouter(service.workbench), { context: {} });
  if (options.starter !== false && (await client.system.info()).empty) {
    try {
      note("Running the starter experiment (skip it with --no-starter)…");
      const { id } = await client.training.startStarter({});
      const result = await follow<TrainingResult>(await client.training.follow({ id }, { signal }));
      print(trainingTable(result));
      note("The starter experiment has ended; it is on the Train screen. Still serving.");
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      // Told to end: the run goes on when the workbench is started again.
      if (!signal.aborted) note(`The starter experiment could not be run: ${error.message}\nThe workbench goes on serving.`);
    }
  }
  if (!signal.aborted) await untilStopped(signal);
  await service.close();
  return 0;
}

function hasDisplay(): boolean {
  if (process.platform !== "linux") return true;
  return [process.env.DISPLAY, process.env.WAYLAND_DISPLAY].some((value) => value !== undefined && value !== "");
}

/** The Electron binary, fetched at first use as Electron's own package does it; null when there is no display or no binary to be had. */
function desktopBinary(): string | null {
  if (!hasDisplay()) return null;
  const names = { darwin: "Electron.app/Contents/MacOS/Electron", win32: "electron.exe" } as const;
  const name = process.platform === "darwin" || process.platform === "win32" ? names[process.platform] : "electron";
  const override = process.env.ELECTRON_OVERRIDE_DIST_PATH;
  if (override !== undefined) return join(override, name);
  const installer = electronInstaller();
  if (installer === null) return null;
  const binary = join(dirname(installer), "dist", name);
  if (existsSync(binary)) return binary;
  note("Fetching the desktop shell (once, about 110 MB)…");
  spawnSync(process.execPath, [installer], { stdio: "ignore", timeout: fetchMs });
  if (existsSync(binary)) return binary;
  note("The desktop shell could not be fetched; the same workbench is served for a browser instead.");
  return null;
}

function electronInstaller(): string | null {
  try {
    return createRequire(join(productFolder(), "package.json")).resolve("electron/install.js");
  } catch {
    return null;
  }
}

function openWindow(binary: string, data: string, attached: string | null, signal: AbortSignal): Promise<0 | 1> {
  const asRoot = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  const service = attached === null ? [`--data=${data}`] : [`--attach=${attached}`];
  const shell = spawn(binary, [...asRoot, productFolder(), `--user-data-dir=${join(data, "window")}`, ...service], {
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, OPENFORGE_NODE: process.execPath },
  });
  signal.addEventListener("abort", () => shell.kill("SIGTERM"));
  return new Promise((resolve, reject) => {
    shell.once("error", (error) =>
      reject(
        new WorkbenchError(
          "unavailable",
          `The desktop shell could not be started: ${error.message}`,
          "Run `openforge serve` and open its address in a browser.",
          { cause: error },
        ),
      ),
    );
    shell.once("exit", (code) => {
      const failed = code !== 0 && !signal.aborted;
      if (failed) note("The window ended by itself, as the lines above say. `npm start -- --no-window` serves the same workbench for a browser.");
      resolve(code === 0 ? 0 : 1);
    });
  });
}
