import { spawn } from "node:child_process";
import type { Command } from "commander";
import { WorkbenchError } from "../errors.ts";
import { dataFolder } from "../machine/index.ts";
import { note, print, printJson } from "./output.ts";
import { startService, untilStopped } from "./service.ts";
import { type CommonOptions, guarded, verb } from "./verb.ts";

interface ServeOptions extends CommonOptions {
  readonly port?: string;
  readonly open?: boolean;
}

export function serveCommand(): Command {
  return verb("serve", "the service, with its window in a browser; never starts the starter experiment", "openforge serve --port 7400")
    .option("--port <n>", "port on 127.0.0.1 (default: any free one)")
    .option("--open", "open the address in the browser")
    .action((options: ServeOptions) =>
      guarded(options.json === true, async (signal) => {
        const service = await startService({ data: dataFolder(options.data), port: portNumber(options.port) });
        process.send?.({ type: "ready", url: service.url });
        const stopTelling = service.workbench.onBusyChange((busy) => process.send?.({ type: "busy", busy }));
        if (options.json === true) printJson({ url: service.url });
        else print(`Workbench at ${service.url}`);
        if (options.open === true) openInBrowser(service.url);
        await untilStopped(signal);
        stopTelling();
        await service.close();
        return 0;
      }),
    );
}

export function portNumber(text: string | undefined): number {
  if (text === undefined) return 0;
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new WorkbenchError("usage", `--port wants a number from 0 to 65535, not \`${text}\`.`, "For example --port 7400.");
  return port;
}

function openInBrowser(url: string): void {
  const [command, ...rest] = process.platform === "darwin" ? ["open"] : process.platform === "win32" ? ["cmd", "/c", "start", ""] : ["xdg-open"];
  const child = spawn(command ?? "xdg-open", [...rest, url], { stdio: "ignore", detached: true });
  child.on("error", () => note("No browser could be opened; open the address by hand."));
  child.unref();
}
