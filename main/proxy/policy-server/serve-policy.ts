/** The server: routes, waiting, hanging up. Nothing is recorded here. */
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { WorkbenchError } from "../../errors.ts";
import { completeAnswer } from "../answer-form.ts";
import { systemClock } from "../clock.ts";
import { type Fault, openAiErrorBody } from "../dialects/dialect.ts";
import { faultOfFailure } from "../faults.ts";
import { answerBrokenHttp } from "../http/broken-http.ts";
import { createExchange, type Exchange } from "../http/exchange.ts";
import { readBody } from "../http/read-body.ts";
import { sseText } from "../streams/sse.ts";
import type { UpstreamRequest } from "../upstreams/upstream.ts";
import { readChat } from "./chat-route.ts";
import { readCompletionRequest } from "./completions-route.ts";
import type { PolicyServer, ReadRequest, ServedPolicy } from "./contract.ts";

const routes: Readonly<Record<string, (bytes: Uint8Array, policy: ServedPolicy) => ReadRequest>> = {
  "/chat/completions": readChat,
  "/completions": readCompletionRequest,
};

/** A stream that nothing comes from so long shows a sign of life. */
const quietMs = 8_000;

/** Rejects with WorkbenchError when the port is taken. `version`: of the product, for `/version`. */
export async function servePolicy(policy: ServedPolicy, options: { readonly port: number; readonly version: string }): Promise<PolicyServer> {
  const server = createServer({ requireHostHeader: false }, (request, response) => {
    answer(request, response).catch((error: unknown) => {
      console.error("policy server:", error);
      if (response.headersSent) response.destroy();
      else refuse(createExchange(request, response), broken);
    });
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const exchange = createExchange(request, response);
    const path = (exchange.url.split("?", 1)[0] ?? "").replace(/^\/v1(?=\/)/, "");
    if (exchange.method === "GET" && path === "/models") return json(exchange, modelList(policy));
    if (exchange.method === "GET" && path === "/version") return json(exchange, { version: options.version });
    if (exchange.method === "GET" && (path === "/health" || path === "/")) return json(exchange, { status: "ok" });
    const read = routes[path];
    if (exchange.method !== "POST" || read === undefined) {
      request.resume();
      return refuse(exchange, noRoute);
    }
    const body = await readBody(request, systemClock);
    if (body.ok) await complete(exchange, read(body.bytes, policy));
    else if (body.fault !== null) {
      if ("left" in body || body.unread) exchange.closeAfterwards();
      refuse(exchange, body.fault);
    }
  }

  async function complete(exchange: Exchange, read: ReadRequest): Promise<void> {
    if (!read.ok) return refuse(exchange, read.fault);
    const gone = new AbortController();
    exchange.onGone(() => gone.abort(new Error("the client hung up")));
    const quiet = setInterval(() => (exchange.isOpen() ? exchange.comment() : exchange.openStream()), quietMs);
    if (!read.stream) clearInterval(quiet);
    const callId = randomUUID();
    // A seed that a client gives repeats the answer; without one, each is drawn anew.
    const rolloutId = read.ask.conversation.sampling.seed === undefined ? callId : "served";
    const voice = read.voice(callId);
    const follow: UpstreamRequest["follow"] = (begun) => {
      const eventsOf = voice.follow(begun);
      return (id) => {
        const events = eventsOf(id);
        if (events === "") return;
        exchange.openStream();
        exchange.send(events);
      };
    };
    try {
      const result = await policy.upstream.complete(
        { ...read.ask, rolloutId, attempt: 0, callIndex: 0, labels: { dialect: "chat" }, ...(read.stream ? { follow } : {}) },
        gone.signal,
      );
      if (!result.ok) return refuse(exchange, faultOfFailure(result.failure));
      const texts = voice.say(completeAnswer(result.answer, callId));
      if (read.stream) exchange.finish({ status: 200, contentType: "text/event-stream", body: texts.stream() });
      else exchange.finish({ status: 200, contentType: "application/json", body: texts.body() });
    } catch (error) {
      if (!gone.signal.aborted) throw error;
    } finally {
      clearInterval(quiet);
    }
  }

  await listen(server, options.port);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function modelList({ name, upstream }: ServedPolicy): object {
  return { object: "list", data: [{ id: name, object: "model", created: 0, owned_by: "openforge", max_model_len: upstream.contextWindow }] };
}

function json(exchange: Exchange, value: object): void {
  exchange.finish({ status: 200, contentType: "application/json", body: JSON.stringify(value) });
}

function refuse(exchange: Exchange, fault: Fault): void {
  const body = openAiErrorBody(fault);
  exchange.finish({ status: fault.status, contentType: "application/json", body: exchange.isOpen() ? sseText({ event: "", data: body }) : body });
}

const noRoute: Fault = {
  status: 404,
  code: "unknown_path",
  type: "invalid_request_error",
  message: "This path is not served: the policy answers POST /v1/chat/completions and /v1/completions, and GET /v1/models.",
};
const broken: Fault = { status: 500, code: "server_error", type: "server_error", message: "The server broke on this request. Please report this." };

function listen(server: Server, port: number): Promise<void> {
  server.requestTimeout = 0;
  server.keepAliveTimeout = 120_000;
  answerBrokenHttp(server);
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const taken = error.code === "EADDRINUSE";
      reject(taken ? new WorkbenchError("unavailable", `Port ${port} is taken.`, "Choose another with --port, or leave it out.") : error);
    });
    server.listen(port, "127.0.0.1", resolve);
  });
}
