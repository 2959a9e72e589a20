/**
 * The model's address inside a box whose network has no way out. A short-lived Node of ours enters the box's network namespace, listens
 * on its loopback and hands the listening socket back to the service, which accepts there and passes the bytes to the rollout's
 * proxy socket. Nothing of it runs inside: there is no process that the box could see, end or imitate.
 */
import { spawn } from "node:child_process";
import { connect, Server, type Socket } from "node:net";
import { modelPort } from "../proxy-link.ts";
import { sandboxError } from "../sandbox-error.ts";
import { toolEnvironment } from "./namespace.ts";

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
export async function openModelPort(enterNetwork: readonly string[], proxySocket: string): Promise<ModelPort> {
  const server = await listenInside(enterNetwork);
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

async function listenInside(enterNetwork: readonly string[]): Promise<Server> {
  const [program = "", ...args] = [...enterNetwork, process.execPath, "-e", listenerSource];
  const child = spawn(program, args, { cwd: "/", env: toolEnvironment(), stdio: ["ignore", "ignore", "pipe", "ipc"] });
  let complaint = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    complaint = (complaint + chunk.toString()).slice(0, 2000);
  });
  return new Promise((resolve, reject) => {
    child.once("message", (_message, handle) => {
      if (handle instanceof Server) resolve(handle);
      else reject(noPort("the listener came without its socket"));
    });
    child.once("error", (error) => reject(noPort(error.message)));
    child.once("close", () => reject(noPort(complaint.trim() || "the listener ended early")));
  });
}

function noPort(detail: string): Error {
  return sandboxError("setup-failed", `The model's address could not be opened inside the sandbox: ${detail}.`, "Run `openforge doctor`.");
}
