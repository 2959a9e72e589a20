/**
 * Requests to inference servers. Nothing but the caller's signal ends one: the library's own timers are off. Idle connections are let
 * go before servers close theirs; a reset before any answer byte on a reused connection is sent once more on a new one.
 * undici and not node:http: it costs the event loop a third less a call, and the proxy lives on one event loop.
 */
import { Agent, buildConnector, type Dispatcher } from "undici";

type HttpResult =
  | { readonly ok: true; readonly status: number; readonly contentType: string; readonly retryAfter: string | null; readonly bytes: Uint8Array }
  | { readonly ok: false; readonly message: string };

export interface HttpClient {
  /** Rejects only when `signal` aborts. */
  send(request: HttpRequest, signal: AbortSignal): Promise<HttpResult>;
  close(): void;
}

interface HttpRequest {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** Bytes of an answer that is no refusal, as they come. */
  readonly onBytes?: (bytes: Uint8Array, contentType: string) => void;
}

/** Servers commonly close an idle connection after 5 s. */
const idleMs = 4_000;
const connectMs = 20_000;
const answerLimitBytes = 256 * 1024 * 1024;

export function createHttpClient(): HttpClient {
  const agent = new Agent({
    connect: noteReuse(),
    keepAliveTimeout: idleMs,
    keepAliveMaxTimeout: idleMs,
    headersTimeout: 0,
    bodyTimeout: 0,
    pipelining: 1,
  });
  return {
    async send(request, signal) {
      const first = await attempt(agent, request, signal);
      if (!("resetOnReuse" in first)) return first;
      const fresh = new Agent({ connect: noteReuse(), headersTimeout: 0, bodyTimeout: 0, pipelining: 0 });
      try {
        const second = await attempt(fresh, request, signal);
        return "resetOnReuse" in second ? { ok: false, message: second.resetOnReuse } : second;
      } finally {
        fresh.destroy().catch(() => undefined);
      }
    },
    close() {
      agent.destroy().catch(() => undefined);
    },
  };
}

/** Connections whose errors say whether anything was read on them before: then they had served an earlier request. */
function noteReuse(): buildConnector.connector {
  const connect = buildConnector({ timeout: connectMs, keepAlive: true });
  return (options, callback) =>
    connect(options, (...outcome) => {
      const socket = outcome[1];
      socket?.prependListener("error", (error: Error) => Object.assign(error, { socket: { bytesRead: socket.bytesRead } }));
      callback(...outcome);
    });
}

/** By a handler of its own: the library's promise brings a stream, an async iterator and their events for every short answer. */
function attempt(dispatcher: Dispatcher, request: HttpRequest, signal: AbortSignal): Promise<HttpResult | { readonly resetOnReuse: string }> {
  const { origin, path } = splitUrl(request.url);
  const type = request.body === undefined ? {} : { "content-type": "application/json" };
  const headers = { accept: "application/json", ...type, ...request.headers };
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | null = null;
    let head: { readonly status: number; readonly contentType: string; readonly retryAfter: string | null } | null = null;
    const chunks: Uint8Array[] = [];
    let size = 0;
    const abort = (): void => {
      reject(abortError(signal));
      controller?.abort(abortError(signal));
    };
    if (signal.aborted) {
      abort();
      return;
    }
    signal.addEventListener("abort", abort, { once: true });
    const done = (result: HttpResult | { readonly resetOnReuse: string }): void => {
      signal.removeEventListener("abort", abort);
      resolve(result);
    };
    dispatcher.dispatch(
      { origin, path, method: request.method, headers, ...(request.body === undefined ? {} : { body: request.body }) },
      {
        onRequestStart(started) {
          controller = started;
          if (signal.aborted) started.abort(abortError(signal));
        },
        onResponseStart(_, status, received) {
          if (status < 200) return;
          head = { status, contentType: headerOf(received["content-type"]) ?? "", retryAfter: headerOf(received["retry-after"]) };
        },
        onResponseData(current, chunk) {
          size += chunk.length;
          if (size > answerLimitBytes) current.abort(new Error(`it is larger than ${answerLimitBytes / 1024 / 1024} MiB`));
          else {
            chunks.push(chunk);
            if (head !== null && head.status < 300) request.onBytes?.(chunk, head.contentType);
          }
        },
        onResponseEnd() {
          if (head === null) done({ ok: false, message: "the answer had no head" });
          else done({ ok: true, ...head, bytes: chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks) });
        },
        onResponseError(_, error) {
          const message = readableReason(error);
          if (head !== null) done({ ok: false, message: `the answer was cut: ${message}` });
          else done(wasReset(error) && bytesReadBefore(error) > 0 ? { resetOnReuse: message } : { ok: false, message });
        },
      },
    );
  });
}

function abortError(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new Error("the request was given up");
}

/** The few addresses of this process, taken apart once. */
const splitUrls = new Map<string, { readonly origin: string; readonly path: string }>();

function splitUrl(text: string): { readonly origin: string; readonly path: string } {
  const known = splitUrls.get(text);
  if (known !== undefined) return known;
  const url = new URL(text);
  const split = { origin: url.origin, path: url.pathname + url.search };
  if (splitUrls.size >= 1000) splitUrls.clear();
  splitUrls.set(text, split);
  return split;
}

function headerOf(value: string | string[] | undefined): string | null {
  return (Array.isArray(value) ? value[0] : value) ?? null;
}

function codeOf(error: unknown): string {
  return typeof error === "object" && error !== null && "code" in error ? String(error.code) : "";
}

function wasReset(error: unknown): boolean {
  return ["UND_ERR_SOCKET", "ECONNRESET", "EPIPE"].includes(codeOf(error));
}

function bytesReadBefore(error: unknown): number {
  if (typeof error !== "object" || error === null || !("socket" in error)) return 0;
  const { socket } = error;
  return typeof socket === "object" && socket !== null && "bytesRead" in socket ? Number(socket.bytesRead) : 0;
}

function readableReason(error: unknown): string {
  switch (codeOf(error)) {
    case "ECONNREFUSED":
      return "nothing listens there";
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return "the host's name is not known";
    case "ECONNRESET":
      return "the connection was reset";
    case "UND_ERR_SOCKET":
      return "the connection closed";
    case "UND_ERR_CONNECT_TIMEOUT":
      return `no connection within ${connectMs / 1000} s`;
    default:
      return error instanceof Error && error.message !== "" ? error.message : codeOf(error) || "the connection failed";
  }
}
