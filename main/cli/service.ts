/** Runs the service in this process and keeps it up until it is told to stop. */
import { join } from "node:path";
import { createRouter, startServer } from "../api/index.ts";
import { bootWorkbench, type Workbench } from "../boot.ts";
import { productFolder } from "../machine/index.ts";
import { serviceSocket } from "./connect.ts";

export interface RunningService {
  readonly url: string;
  readonly workbench: Workbench;
  close(): Promise<void>;
}

export async function startService(options: { data: string; port: number }): Promise<RunningService> {
  const workbench = await bootWorkbench({ dataFolder: options.data });
  let url = "";
  try {
    const server = await startServer({
      router: createRouter({ ...workbench, address: () => url }),
      windowFolder: join(productFolder(), "dist", "renderer"),
      port: options.port,
      socketPath: process.platform === "win32" ? null : serviceSocket(options.data),
      readBlob: (hash) => workbench.readBlob(hash),
    });
    url = server.url;
    return {
      url,
      workbench,
      close: async () => {
        await server.close();
        await workbench.close();
      },
    };
  } catch (error) {
    await workbench.close();
    throw error;
  }
}

/** Resolves when the process is asked to end, or when the parent that started it is gone. */
export function untilStopped(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve());
    if (process.send !== undefined) process.once("disconnect", () => resolve());
  });
}
