/** What the proxy listens on: a port on loopback, and unix sockets. */
import { randomBytes } from "node:crypto";
import { mkdirSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { WorkbenchError } from "../../errors.ts";
import type { ProxyDoor } from "../contract.ts";
import { answerBrokenHttp } from "./broken-http.ts";

type OnRequest = (request: IncomingMessage, response: ServerResponse) => void;

/** Longest path of a unix socket that every system takes, less a margin. */
const socketPathLimit = 100;

/** `port`: 0 = a free one. */
export async function openPort(port: number, onRequest: OnRequest): Promise<{ readonly address: string; close(): Promise<void> }> {
  const server = createHttpServer(onRequest);
  await listen(server, { host: "127.0.0.1", port });
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => closeServer(server) };
}

/** A socket of a random name in `folder`. */
export async function openSocket(folder: string, onRequest: OnRequest): Promise<ProxyDoor> {
  const path = join(folder, `${randomBytes(4).toString("hex")}.sock`);
  if (Buffer.byteLength(path) >= socketPathLimit)
    throw new WorkbenchError(
      "unavailable",
      `The folder for sockets has too long a path: ${folder}.`,
      "Set XDG_RUNTIME_DIR or TMPDIR to a folder with a short path.",
    );
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  const server = createHttpServer(onRequest);
  await listen(server, { path, readableAll: true, writableAll: true });
  return {
    path,
    async close() {
      await closeServer(server);
      rmSync(path, { force: true });
    },
  };
}

function createHttpServer(onRequest: OnRequest): Server {
  const server = createServer({ maxHeaderSize: 65_536, requireHostHeader: false }, onRequest);
  // Idle limits are the client's own; a call may take as long as its budget.
  server.requestTimeout = 0;
  server.headersTimeout = 60_000;
  server.keepAliveTimeout = 120_000;
  answerBrokenHttp(server);
  return server;
}

function listen(server: Server, where: { host: string; port: number } | { path: string; readableAll: boolean; writableAll: boolean }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(where, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

/** Replies that are on their way get a moment; then every connection is closed. */
function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
    setTimeout(() => server.closeAllConnections(), 250).unref();
  });
}
