/**
 * The model's address inside a box whose network has no way out. A short-lived Node of ours enters the box's network namespace, listens
 * on its loopback and hands the listening socket back to the service, which accepts there and passes the bytes to the rollout's
 * proxy socket. Nothing of it runs inside: there is no process that the box could see, end or imitate.
 */
import { connect, type Server, type Socket } from "node:net";
import { modelPort } from "../proxy-link.ts";
import { sandboxError } from "../sandbox-error.ts";
import type { Launcher } from "./launcher.ts";
import { toolEnvironment } from "./system-tools.ts";

export interface ModelPort {
  close(): void;
}

const listenerSource = `
const server = require("node:net").createServer();
process.on("disconnect", () => process.exit(1));
server.on("error", (error) => { console.error(error.message); process.exit(1); });
server.listen(${modelPort}, "127.0.0.1", 511, () => process.send("listening", server, () => process.exit(0)));
`;

/** `enterNetwork` is the command prefix that runs a program in the box's network namespace. */
export async function openModelPort(launcher: Launcher, enterNetwork: readonly string[], proxySocket: string): Promise<ModelPort> {
  const server = await listenInside(launcher, enterNetwork);
  const open = new Set<Socket>();
  server.on("connection", (inside) => {
    const outside = connect({ path: proxySocket, allowHalfOpen: true });
    // Each side may close its sending half first; by default the answer would be cut short then.
    inside.allowHalfOpen = true;
    passOn(inside, outside);
    passOn(outside, inside);
    for (const socket of [inside, outside]) {
      open.add(socket);
      socket.once("close", () => open.delete(socket));
    }
  });
  server.unref();
  return {
    close: () => {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}

function passOn(from: Socket, to: Socket): void {
  from.on("error", () => to.destroy());
  from.on("close", () => {
    if (!from.readableEnded) to.destroy();
  });
  from.pipe(to);
}

async function listenInside(launcher: Launcher, enterNetwork: readonly string[]): Promise<Server> {
  let complaint = "";
  return new Promise((resolve, reject) => {
    const { end } = launcher.launch({
      command: [...enterNetwork, process.execPath, "-e", listenerSource],
      env: toolEnvironment(),
      outputLimitBytes: 2000,
      onOutput: (_stream, bytes) => {
        complaint += bytes.toString();
      },
      onServer: resolve,
    });
    end.then(
      () => reject(noPort(complaint.trim() || "the listener ended without a word")),
      (error: unknown) => reject(noPort(error instanceof Error ? error.message : String(error))),
    );
  });
}

function noPort(detail: string): Error {
  return sandboxError("setup-failed", `The model's address could not be opened inside the sandbox: ${detail}.`, "Run `openforge doctor`.");
}
