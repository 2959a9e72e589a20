/**
 * The one way out of a box with an allow list: an HTTP proxy (CONNECT for anything, absolute addresses for plain HTTP) that lives in the
 * service. It resolves names itself and connects to the address that it has checked, so a name cannot mean one thing when it is checked
 * and another when it is used. Every connection is told when it has ended.
 */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { EgressConnection } from "../contract.ts";
import { type Destination, destinationOf, machineResolver, plainHost, type Resolve } from "./destination.ts";
import { type HostRules, hostRules } from "./host-rules.ts";

const connectLimitMs = 30_000;
/** Open at once, and in a box's whole life. What nobody would read any more is refused rather than not recorded. */
const limits = { open: 256, total: 20_000 };

interface EgressProxyOptions {
  readonly allowedHosts: readonly string[];
  readonly onConnection?: ((connection: EgressConnection) => void) | undefined;
  readonly resolve?: Resolve | undefined;
}

export interface EgressProxy {
  /** Takes over a connection from inside. */
  accept(socket: Socket): void;
  /** Takes connections at a unix socket until it is closed. */
  listen(path: string): Promise<void>;
  /** From now on these hosts and no others; what is open to others ends. */
  allow(hosts: readonly string[]): void;
  close(): void;
}

/** What a refused client gets. */
interface Refusal {
  readonly status: 400 | 403 | 429 | 502 | 504;
  readonly reason: string;
}

interface Target {
  readonly host: string;
  readonly port: number;
}

export function openEgressProxy({ allowedHosts, onConnection, resolve = machineResolver }: EgressProxyOptions): EgressProxy {
  let rules: HostRules = hostRules(allowedHosts);
  let total = 0;
  const outside = new Map<Socket, Target>();
  const inside = new Set<Socket>();

  function tell({ host, port }: Target, startedAt: number, end: Pick<EgressConnection, "allowed" | "reason">, socket?: Socket): void {
    onConnection?.({ host, port, ...end, sentBytes: socket?.bytesWritten ?? 0, receivedBytes: socket?.bytesRead ?? 0, startedAt });
  }

  /** A connected socket, or why there is none; both are told. */
  async function reach(target: Target | null): Promise<Socket | Refusal> {
    const startedAt = Date.now();
    if (target === null) return { status: 400, reason: "This is an HTTP proxy: ask it by CONNECT host:port, or for an absolute http:// address." };
    total += 1;
    if (total > limits.total || outside.size >= limits.open) {
      return { status: 429, reason: `Too many connections: at most ${limits.open} at once, ${limits.total} in all.` };
    }
    const destination = await destinationOf(target.host, rules, resolve);
    if (!destination.allowed) {
      tell(target, startedAt, { allowed: false, reason: destination.reason });
      return refusalOf(destination);
    }
    const socket = connect({ host: destination.address, port: target.port, allowHalfOpen: true });
    outside.set(socket, target);
    const failure = await connected(socket);
    socket.once("close", () => outside.delete(socket));
    if (failure !== null) {
      outside.delete(socket);
      socket.destroy();
      const reason = `${target.host}:${target.port} cannot be reached: ${failure}.`;
      tell(target, startedAt, { allowed: true, reason });
      return { status: failure === tooSlow ? 504 : 502, reason };
    }
    socket.once("close", () => tell(target, startedAt, { allowed: true, reason: null }, socket));
    return socket;
  }

  const server: Server = createServer((incoming, answer) => void forward(incoming, answer).catch(() => answer.destroy()));
  server.on("connection", (socket: Socket) => {
    inside.add(socket);
    socket.once("close", () => inside.delete(socket));
  });
  server.on("connect", (incoming, socket, head) => void tunnel(incoming, socket, head).catch(() => socket.destroy()));
  server.on("clientError", (_error, socket) => socket.destroy());

  async function tunnel(incoming: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on("error", () => undefined);
    const reached = await reach(authority(incoming.url ?? ""));
    if (!isSocket(reached)) {
      const body = `${reached.reason}\n`;
      const head = [`HTTP/1.1 ${reached.status} ${reached.status === 403 ? "Forbidden" : "Refused"}`, "content-type: text/plain; charset=utf-8"];
      socket.end([...head, `content-length: ${Buffer.byteLength(body)}`, "x-openforge-egress: refused", "connection: close", "", body].join("\r\n"));
      return;
    }
    if (socket.destroyed) return void reached.destroy();
    socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
    if (head.length > 0) reached.write(head);
    passOn(socket, reached);
    passOn(reached, socket);
  }

  async function forward(incoming: IncomingMessage, answer: ServerResponse): Promise<void> {
    const url = absoluteAddress(incoming.url ?? "");
    const reached = await reach(url === null ? null : targetOf(url));
    if (!isSocket(reached) || url === null) {
      const { status, reason } = isSocket(reached) ? { status: 400, reason: "No address." } : reached;
      answer.writeHead(status, { "content-type": "text/plain; charset=utf-8", "x-openforge-egress": "refused", connection: "close" });
      answer.end(`${reason}\n`);
      return;
    }
    const outgoing = request({
      createConnection: () => reached,
      method: incoming.method ?? "GET",
      path: `${url.pathname}${url.search}`,
      // What the address says counts, not what the client claims beside it.
      headers: { ...endToEnd(incoming.headers), host: url.host, connection: "close" },
      setHost: false,
    });
    const fail = (error: Error): void => {
      reached.destroy();
      if (answer.headersSent) return void answer.destroy();
      answer.writeHead(502, { "content-type": "text/plain; charset=utf-8" }).end(`${url.host} broke off: ${error.message}.\n`);
    };
    outgoing.once("error", fail);
    outgoing.once("response", (response) => {
      answer.writeHead(response.statusCode ?? 502, response.statusMessage ?? "", endToEnd(response.headers));
      response.once("error", fail);
      response.pipe(answer);
    });
    answer.once("close", () => reached.destroy());
    incoming.pipe(outgoing);
  }

  return {
    accept: (socket) => {
      // A client may end its sending half first; by default the answer would be cut short then.
      socket.allowHalfOpen = true;
      server.emit("connection", socket);
    },
    listen: (path) =>
      new Promise((resolveListening, reject) => {
        server.once("error", reject);
        server.listen(path, () => resolveListening());
        server.unref();
      }),
    allow: (hosts) => {
      rules = hostRules(hosts);
      for (const [socket, { host }] of outside) if (!rules.allowsName(host) && !rules.allowsAddress(host)) socket.destroy();
    },
    close: () => {
      server.close();
      for (const socket of [...inside, ...outside.keys()]) socket.destroy();
    },
  };
}

const isSocket = (reached: Socket | Refusal): reached is Socket => !("status" in reached);

function refusalOf({ kind, reason }: Extract<Destination, { allowed: false }>): Refusal {
  return { status: kind === "refused" ? 403 : 502, reason };
}

const tooSlow = `no answer within ${connectLimitMs / 1000} seconds`;

/** Null when it is connected, else why not. */
function connected(socket: Socket): Promise<string | null> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(tooSlow), connectLimitMs);
    const settle = (failure: string | null): void => {
      clearTimeout(timer);
      resolve(failure);
    };
    socket.once("connect", () => settle(null));
    // Stays: a socket that breaks later must not be anybody's uncaught error.
    socket.on("error", (error: NodeJS.ErrnoException) => settle(error.code ?? error.message));
    socket.once("close", () => settle("it was closed"));
  });
}

function passOn(from: Duplex, to: Duplex): void {
  from.on("error", () => to.destroy());
  from.on("close", () => {
    if (!from.readableEnded) to.destroy();
  });
  from.pipe(to);
}

/** `host:port` of CONNECT. */
function authority(text: string): Target | null {
  const [, host, port] = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):(\d{1,5})$/.exec(text) ?? [];
  const number = Number(port);
  return host === undefined || !(number > 0 && number < 65_536) ? null : { host: plainHost(host), port: number };
}

function absoluteAddress(text: string): URL | null {
  if (!/^http:\/\//i.test(text) || !URL.canParse(text)) return null;
  const url = new URL(text);
  return url.username === "" && url.password === "" ? url : null;
}

const targetOf = ({ hostname, port }: URL): Target => ({ host: plainHost(hostname), port: port === "" ? 80 : Number(port) });

const ofOneConnection = new Set(
  "connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer transfer-encoding upgrade".split(" "),
);

/** Headers without those that concern one connection only. */
function endToEnd(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const listed = (headers.connection ?? "").split(",").map((name) => name.trim().toLowerCase());
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !ofOneConnection.has(name) && !listed.includes(name)));
}
