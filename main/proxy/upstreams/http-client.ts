/**
 * Requests to inference servers. Nothing but the caller's signal ends one: no hidden timer of a library does. Idle connections are
 * let go before servers close theirs; a reset before any answer byte on a reused connection is sent once more on a new one.
 */
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage, type RequestOptions } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";

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
}

/** Servers commonly close an idle connection after 5 s. */
const idleMs = 4_000;
const connectMs = 20_000;
const answerLimitBytes = 256 * 1024 * 1024;

export function createHttpClient(): HttpClient {
  const agents = {
    "http:": new HttpAgent({ keepAlive: true, timeout: idleMs, scheduling: "lifo" }),
    "https:": new HttpsAgent({ keepAlive: true, timeout: idleMs, scheduling: "lifo" }),
  };
  return {
    async send(request, signal) {
      const url = new URL(request.url);
      const agent = url.protocol === "https:" ? agents["https:"] : agents["http:"];
      const first = await attempt(request, url, { agent }, signal);
      return first.kind === "reset-on-reuse" ? unwrap(await attempt(request, url, { agent: false }, signal)) : unwrap(first);
    },
    close() {
      agents["http:"].destroy();
      agents["https:"].destroy();
    },
  };
}

type Attempt = { readonly kind: "done"; readonly result: HttpResult } | { readonly kind: "reset-on-reuse"; readonly message: string };

function unwrap(attempt: Attempt): HttpResult {
  return attempt.kind === "done" ? attempt.result : { ok: false, message: attempt.message };
}

function attempt(request: HttpRequest, url: URL, connection: Pick<RequestOptions, "agent">, signal: AbortSignal): Promise<Attempt> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }
    const body = request.body;
    const headers = {
      accept: "application/json",
      ...request.headers,
      ...(body === undefined ? {} : { "content-type": "application/json", "content-length": body.length }),
    };
    const send = url.protocol === "https:" ? httpsRequest : httpRequest;
    const outgoing = send(url, { method: request.method, headers, ...connection });
    const abort = (): void => {
      outgoing.destroy();
      reject(signal.reason);
    };
    signal.addEventListener("abort", abort, { once: true });
    let answered = false;
    const done = (result: HttpResult): void => {
      signal.removeEventListener("abort", abort);
      resolve({ kind: "done", result });
    };
    outgoing.once("socket", (socket) => {
      if (!socket.connecting) return;
      const timer = setTimeout(() => outgoing.destroy(new Error(`no connection within ${connectMs / 1000} s`)), connectMs);
      timer.unref();
      socket.once("connect", () => clearTimeout(timer));
      socket.once("close", () => clearTimeout(timer));
    });
    outgoing.once("response", (response) => {
      answered = true;
      collect(response, done);
    });
    outgoing.once("error", (error: NodeJS.ErrnoException) => {
      const reset = error.code === "ECONNRESET" || error.code === "EPIPE";
      if (!answered && reset && outgoing.reusedSocket) {
        signal.removeEventListener("abort", abort);
        resolve({ kind: "reset-on-reuse", message: error.message });
      } else done({ ok: false, message: readableReason(error) });
    });
    outgoing.end(body);
  });
}

function collect(response: IncomingMessage, done: (result: HttpResult) => void): void {
  const chunks: Uint8Array[] = [];
  let size = 0;
  response.on("data", (chunk: Uint8Array) => {
    size += chunk.length;
    chunks.push(chunk);
    if (size > answerLimitBytes) response.destroy(new Error(`the answer is larger than ${answerLimitBytes / 1024 / 1024} MiB`));
  });
  response.once("end", () =>
    done({
      ok: true,
      status: response.statusCode ?? 0,
      contentType: response.headers["content-type"] ?? "",
      retryAfter: response.headers["retry-after"] ?? null,
      bytes: Buffer.concat(chunks),
    }),
  );
  response.once("error", (error) => done({ ok: false, message: `the answer was cut: ${error.message}` }));
  response.once("close", () => {
    if (!response.complete) done({ ok: false, message: "the connection closed inside the answer" });
  });
}

function readableReason(error: NodeJS.ErrnoException): string {
  switch (error.code) {
    case "ECONNREFUSED":
      return "nothing listens there";
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return "the host's name is not known";
    case "ECONNRESET":
      return "the connection was reset";
    default:
      return error.message === "" ? (error.code ?? "the connection failed") : error.message;
  }
}
