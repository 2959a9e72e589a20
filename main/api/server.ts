/**
 * The service's own door: the window's files and the contract over WebSocket, on 127.0.0.1 and on a private unix socket.
 *
 * On TCP the first WebSocket message is `{"token": "…"}` and plain HTTP data wants it as bearer; Host and Origin must be this
 * server's (DNS rebinding). The unix socket lies in a folder only this user can enter and needs no token: the command line uses it.
 */
import { randomBytes, timingSafeEqual } from "node:crypto";
import { rmSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { AnyRouter } from "@orpc/server";
import { RPCHandler } from "@orpc/server/ws";
import { type WebSocket, WebSocketServer } from "ws";
import { z } from "zod";
import { WorkbenchError } from "../errors.ts";
import { isRolloutKey } from "../proxy/index.ts";
import { serveStaticFile } from "./static-files.ts";

export interface ServerOptions {
  readonly router: AnyRouter;
  /** Folder of the built window. */
  readonly windowFolder: string;
  /** 0 = any free port. */
  readonly port: number;
  readonly socketPath: string | null;
  /** Bytes of a stored body for `GET /blobs/<hash>`, or null. */
  readonly readBlob: (hash: string) => Uint8Array | null;
}

export interface WorkbenchServer {
  /** `http://127.0.0.1:PORT/#token=…`: opens the workbench. */
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

const firstMessage = z.object({ token: z.string() });
const authenticationMs = 10_000;
const largestMessage = 64 * 1024 * 1024;

export async function startServer(options: ServerOptions): Promise<WorkbenchServer> {
  const token = randomBytes(24).toString("base64url");
  const handler = new RPCHandler(options.router);
  const sockets = new WebSocketServer({ noServer: true, maxPayload: largestMessage });
  const accept = (socket: WebSocket) => void handler.upgrade(socket, { context: {} });

  const guarded = createServer((request, response) => {
    void answer(request, response).catch(() => {
      if (!response.headersSent) response.writeHead(500);
      response.end();
    });
  });
  const ownHosts = () => {
    const { port } = guarded.address() as AddressInfo;
    return [`127.0.0.1:${port}`, `localhost:${port}`];
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!ownHosts().includes(request.headers.host ?? "")) {
      response.writeHead(421, { "content-type": "text/plain" }).end("This address is not the workbench's.\n");
      return;
    }
    if (isRolloutKey(request.headers.authorization?.replace(/^Bearer /, "") ?? "")) {
      response.writeHead(403, { "content-type": "text/plain" }).end("The key of a rollout opens its model routes on the proxy and nothing else.\n");
      return;
    }
    const pathname = pathOf(request);
    if (pathname === null) {
      response.writeHead(400, { "content-type": "text/plain" }).end("This is no path of the workbench's.\n");
    } else if (pathname === "/healthz") {
      response.writeHead(200, { "content-type": "text/plain" }).end("ok\n");
    } else if (pathname.startsWith("/blobs/")) {
      answerBlob(pathname.slice("/blobs/".length), request, response);
    } else {
      await serveStaticFile(options.windowFolder, pathname, response);
    }
  }

  function answerBlob(hash: string, request: IncomingMessage, response: ServerResponse): void {
    if (!isSameToken(token, request.headers.authorization?.replace(/^Bearer /, ""))) {
      response.writeHead(401).end();
      return;
    }
    const bytes = options.readBlob(hash);
    if (bytes === null) response.writeHead(404).end();
    else response.writeHead(200, { "content-type": "application/octet-stream", "x-content-type-options": "nosniff" }).end(bytes);
  }

  guarded.on("upgrade", (request, socket, head) => {
    const pathname = pathOf(request);
    const origin = request.headers.origin;
    const sameOrigin = origin === undefined || ownHosts().some((host) => origin === `http://${host}`);
    if (pathname !== "/rpc" || !sameOrigin || !ownHosts().includes(request.headers.host ?? "")) {
      // Node no longer counts an upgraded connection: left half open by the client it would hold up the end of the service.
      socket.end("HTTP/1.1 403 Forbidden\r\nConnection: close\r\n\r\n", () => socket.destroy());
      return;
    }
    sockets.handleUpgrade(request, socket, head, (webSocket) => authenticate(webSocket, token, () => accept(webSocket)));
  });
  await listen(guarded, () => guarded.listen(options.port, "127.0.0.1"), options.port);

  const { port } = guarded.address() as AddressInfo;
  const local = options.socketPath === null ? null : await listenPrivately(options.socketPath, sockets, accept);
  return {
    port,
    url: `http://127.0.0.1:${port}/#token=${token}`,
    close: async () => {
      for (const client of sockets.clients) client.terminate();
      await Promise.all([guarded, local].map((server) => (server === null ? undefined : closeServer(server))));
      if (options.socketPath !== null) rmSync(options.socketPath, { force: true });
    },
  };
}

/** Decoded; null for what is none (`//`, `/%zz`). Whoever reaches the port may send anything, and nothing of it may throw. */
function pathOf(request: IncomingMessage): string | null {
  try {
    return decodeURIComponent(new URL(request.url ?? "/", "http://workbench").pathname);
  } catch {
    return null;
  }
}

/** The command line's door; the folder's permissions are its lock. */
async function listenPrivately(path: string, sockets: WebSocketServer, accept: (socket: WebSocket) => void): Promise<Server> {
  const server = createServer((_request, response) => void response.writeHead(404).end());
  server.on("upgrade", (request, socket, head) => sockets.handleUpgrade(request, socket, head, accept));
  rmSync(path, { force: true });
  await listen(server, () => server.listen(path), 0);
  return server;
}

function authenticate(socket: WebSocket, token: string, accepted: () => void): void {
  const timer = setTimeout(() => socket.close(4401, "no token came"), authenticationMs);
  socket.on("error", () => socket.terminate());
  socket.once("close", () => clearTimeout(timer));
  socket.once("message", (data) => {
    clearTimeout(timer);
    const message = firstMessage.safeParse(parseOrNull(String(data)));
    if (message.success && isSameToken(token, message.data.token)) accepted();
    else socket.close(4401, "the token is not this service's");
  });
}

function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function isSameToken(token: string, given: string | undefined): boolean {
  const expected = Buffer.from(token);
  const actual = Buffer.from(given ?? "");
  return expected.length === actual.length && timingSafeEqual(expected, actual);
}

function listen(server: Server, start: () => void, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const message = error.code === "EADDRINUSE" ? `Port ${port} is in use by another program.` : `The service cannot listen: ${error.message}.`;
      reject(new WorkbenchError("unavailable", message, "Choose another port with --port, or leave it out to take a free one.", { cause: error }));
    });
    server.once("listening", resolve);
    start();
  });
}

function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
