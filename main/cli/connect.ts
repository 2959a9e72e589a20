/** Reaches the workbench of a data folder: the running service by its private socket, else one started for the length of the call. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createORPCClient } from "@orpc/client";
import { RPCLink } from "@orpc/client/websocket";
import type { ContractRouterClient } from "@orpc/contract";
import { createRouterClient } from "@orpc/server";
import { WebSocket } from "ws";
import type { contract } from "../api/contract.ts";
import { createRouter } from "../api/index.ts";
import { bootWorkbench } from "../boot.ts";
import { WorkbenchError } from "../errors.ts";
import { runtimeFolder, runtimePath } from "../machine/index.ts";

export type WorkbenchClient = ContractRouterClient<typeof contract>;

export interface Connection {
  readonly client: WorkbenchClient;
  /** True when another process runs the service. */
  readonly remote: boolean;
  /** Rejects when that service goes away while it is needed; never resolves. */
  readonly lost: Promise<never>;
  close(): Promise<void>;
}

export function serviceSocket(data: string): string {
  return join(runtimeFolder(data), "service.sock");
}

/** A client of the service that already runs for this data folder, or null. */
export async function connectToRunning(data: string): Promise<Connection | null> {
  if (!existsSync(join(runtimePath(data), "service.sock"))) return null;
  const path = serviceSocket(data);
  const socket = new WebSocket(`ws+unix:${path}:/rpc`);
  const opened = await new Promise<boolean>((resolve) => {
    socket.once("open", () => resolve(true));
    socket.once("error", () => resolve(false));
  });
  if (!opened) return null;
  const client: WorkbenchClient = createORPCClient(new RPCLink({ websocket: socket as unknown as globalThis.WebSocket }));
  let closing = false;
  const lost = new Promise<never>((_resolve, reject) => {
    socket.once("close", () => {
      if (!closing) reject(serviceLost());
    });
  });
  // Whoever does not wait for it is not told.
  lost.catch(() => undefined);
  return {
    client,
    remote: true,
    lost,
    close: () =>
      new Promise((resolve) => {
        closing = true;
        if (socket.readyState === WebSocket.CLOSED) {
          resolve();
          return;
        }
        socket.once("close", () => resolve());
        socket.close();
      }),
  };
}

function serviceLost(): WorkbenchError {
  return new WorkbenchError(
    "unavailable",
    "The service of this data folder ended while it was working.",
    "Start it again with `openforge serve`: it goes on with what was unfinished; see `openforge runs list`.",
    { exitCode: 1 },
  );
}

export async function connect(data: string): Promise<Connection> {
  const running = await connectToRunning(data);
  if (running !== null) return running;
  const workbench = await bootWorkbench({ dataFolder: data });
  const client: WorkbenchClient = createRouterClient(createRouter(workbench), { context: {} });
  return { client, remote: false, lost: new Promise<never>(() => undefined), close: () => workbench.close() };
}
