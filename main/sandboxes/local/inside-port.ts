/**
 * A port on the loopback of a box whose network has no way out. A short-lived Node of ours enters the box's network namespace, listens
 * there and hands the listening socket back to the service, which accepts. Nothing of it runs inside: there is no process that the box
 * could see, end or imitate.
 */
import type { Server, Socket } from "node:net";
import { sandboxError } from "../sandbox-error.ts";
import type { Launcher } from "./launcher.ts";
import { toolEnvironment } from "./system-tools.ts";

export interface InsidePort {
  close(): void;
}

const listenerSource = `
const server = require("node:net").createServer();
process.on("disconnect", () => process.exit(1));
server.on("error", (error) => { console.error(error.message); process.exit(1); });
server.listen(Number(process.argv[1]), "127.0.0.1", 511, () => process.send("listening", server, () => process.exit(0)));
`;

/** `enterNetwork` is the command prefix that runs a program in the box's network namespace. `onSocket` owns what it gets. */
export async function openInsidePort(
  launcher: Launcher,
  enterNetwork: readonly string[],
  port: number,
  onSocket: (socket: Socket) => void,
): Promise<InsidePort> {
  const server = await listenInside(launcher, enterNetwork, port);
  server.on("connection", onSocket);
  server.unref();
  return { close: () => void server.close() };
}

async function listenInside(launcher: Launcher, enterNetwork: readonly string[], port: number): Promise<Server> {
  let complaint = "";
  return new Promise((resolve, reject) => {
    const { end } = launcher.launch({
      command: [...enterNetwork, process.execPath, "-e", listenerSource, String(port)],
      env: toolEnvironment(),
      outputLimitBytes: 2000,
      onOutput: (_stream, bytes) => {
        complaint += bytes.toString();
      },
      onServer: resolve,
    });
    end.then(
      () => reject(noPort(port, complaint.trim() || "the listener ended without a word")),
      (error: unknown) => reject(noPort(port, error instanceof Error ? error.message : String(error))),
    );
  });
}

function noPort(port: number, detail: string): Error {
  return sandboxError("setup-failed", `The port ${port} could not be opened inside the sandbox: ${detail}.`, "Run `openforge doctor`.");
}
