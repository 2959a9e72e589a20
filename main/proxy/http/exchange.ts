/** One request on its connection, and the one reply it gets. Knows HTTP and nothing of calls. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { sseComment } from "../streams/sse.ts";

export interface Exchange {
  readonly id: number;
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The status line and the headers of a stream are out. */
  isOpen(): boolean;
  /** The connection closed before there was a reply. */
  isGone(): boolean;
  openStream(): void;
  comment(): void;
  /** Events of a stream, before its last; opens it. */
  send(events: string): void;
  /** Ends the reply. In an open stream, status and headers are as they were and only the body counts. */
  finish(reply: Reply): void;
  /** The request body was not read to its end: this connection carries no other. */
  closeAfterwards(): void;
  /** Called once, when the last byte was handed to the socket. */
  onDelivered(listener: () => void): void;
  /** Called once: the connection closed before the last byte, or by the client's will soon after it. */
  onGone(listener: () => void): void;
}

interface Reply {
  readonly status: number;
  readonly contentType: "application/json" | "text/event-stream";
  readonly body: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

/** After this time a closing connection says nothing about the last answer on it. */
const lingerMs = 1_000;
const streamHeaders = { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache", "x-accel-buffering": "no" };

let nextId = 1;

export function createExchange(request: IncomingMessage, response: ServerResponse): Exchange {
  let delivered = false;
  let gone = false;
  let mustClose = false;
  let onDelivered = (): void => undefined;
  let onGone = (): void => undefined;
  const closeAfter = (): void => {
    mustClose = true;
  };
  const onSocket = noteRequest(request, closeAfter);
  response.once("close", () => {
    gone = !delivered;
    if (gone) onGone();
  });
  return {
    id: nextId++,
    method: request.method ?? "GET",
    url: originForm(request.url ?? "/"),
    headers: plainHeaders(request),
    isOpen: () => response.headersSent,
    isGone: () => gone,
    openStream() {
      if (response.headersSent || response.destroyed) return;
      response.writeHead(200, streamHeaders);
      response.write(sseComment("waiting"));
    },
    comment() {
      if (!response.destroyed) response.write(sseComment("keepalive"));
    },
    send(events) {
      if (response.destroyed) return;
      if (!response.headersSent) response.writeHead(200, streamHeaders);
      response.write(events);
    },
    finish(reply) {
      if (response.destroyed || response.writableEnded) return;
      const body = typeof reply.body === "string" ? Buffer.from(reply.body) : reply.body;
      if (!response.headersSent) {
        const kind = reply.contentType === "text/event-stream" ? streamHeaders : { "content-type": "application/json" };
        const closing = mustClose ? { connection: "close" } : {};
        response.writeHead(reply.status, { ...kind, "content-length": body.length, ...closing, ...reply.headers });
      }
      if (onSocket.owed === closeAfter) onSocket.owed = null;
      response.end(body, () => {
        delivered = true;
        onDelivered();
        if (mustClose) request.destroy();
        else if (request.headers.connection?.toLowerCase() !== "close") onSocket.last = { at: performance.now(), onHangUp: onGone };
      });
    },
    closeAfterwards: closeAfter,
    onDelivered(listener) {
      onDelivered = listener;
    },
    onGone(listener) {
      onGone = listener;
    },
  };
}

interface LastAnswer {
  readonly at: number;
  readonly onHangUp: () => void;
}

interface Connection {
  /** The last answer on it, until something else is asked. */
  last: LastAnswer | null;
  /** The last request on it. */
  request: IncomingMessage;
  /** Has it closed after the reply to that request; null when that is out. */
  owed: (() => void) | null;
}

const connections = new WeakMap<Socket, Connection>();

function noteRequest(request: IncomingMessage, closeAfter: () => void): Connection {
  const { socket } = request;
  const known = connections.get(socket);
  if (known !== undefined) return Object.assign(known, { last: null, request, owed: closeAfter });
  const made: Connection = { last: null, request, owed: closeAfter };
  connections.set(socket, made);
  socket.once("close", () => {
    if (made.last !== null && performance.now() - made.last.at <= lingerMs) made.last.onHangUp();
  });
  return made;
}

/**
 * What came behind the last request of a connection can't be read. True: it needs no reply of its own, for one is still owed, after
 * which the connection closes, or the request that it belongs to was answered already.
 */
export function closeAfterReply(socket: Socket): boolean {
  const connection = connections.get(socket);
  if (connection === undefined) return false;
  if (connection.owed !== null) connection.owed();
  else if (connection.request.complete) return false;
  else socket.destroySoon();
  return true;
}

/** A client that takes us for a proxy sends the whole address. */
function originForm(url: string): string {
  return url.replace(/^https?:\/\/[^/?]*/i, "") || "/";
}

function plainHeaders(request: IncomingMessage): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.headers))
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(", ") : value;
  return headers;
}
