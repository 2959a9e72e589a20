/** The proxy's doors: one on loopback for all sessions, one unix socket a session. Finds the session of a request and checks its key. */

import type { IncomingMessage, ServerResponse } from "node:http";
import { WorkbenchError } from "../errors.ts";
import type { Store } from "../store/index.ts";
import { createAttachCore } from "./attach-core.ts";
import { rolloutKeyName } from "./call-record.ts";
import { systemClock } from "./clock.ts";
import type { Clock, ProxyDoor, ProxySession, Proxy as RecordingProxy, SessionOptions } from "./contract.ts";
import { countedRequest } from "./count-tokens.ts";
import { dialects } from "./dialects/by-id.ts";
import type { Fault, MediaStore } from "./dialects/dialect.ts";
import { brokenFault, noRouteFault, otherRouteFault, wrongKeyFault } from "./faults.ts";
import { openPort, openSocket } from "./http/door.ts";
import { createExchange, type Exchange } from "./http/exchange.ts";
import { readBody } from "./http/read-body.ts";
import { credentialOf, errorDialectOf, readRoute } from "./http/routes.ts";
import { isRolloutKey, isSameKey, newRolloutKey } from "./keys.ts";
import { openTokenIn } from "./open-token-in.ts";
import { createRequestReader, type RequestReader } from "./request-reader.ts";
import { createSessionCore, type SessionCore } from "./session.ts";

export interface ProxyOptions {
  readonly store: Store;
  readonly clock?: Clock;
  /** Port on 127.0.0.1; left out = a free one. */
  readonly port?: number;
}

interface OpenSession {
  readonly options: Pick<SessionOptions, "rolloutId" | "door" | "upstream">;
  readonly key: string;
  readonly reader: RequestReader;
  /** Of one rollout, or of all sessions of an attached program. */
  readonly core: Pick<SessionCore, "accept" | "refuse" | "count" | "endAgentPhase" | "close">;
}

/** Opens the proxy's door on loopback. */
export async function startProxy(options: ProxyOptions): Promise<RecordingProxy> {
  const { store } = options;
  const clock = options.clock ?? systemClock;
  const sessions = new Map<string, OpenSession>();
  const media: MediaStore = { put: (bytes) => store.blobs.put(bytes).hash, get: (hash) => store.blobs.get(hash) };

  /** `serves`: whether a session may be reached where the request came in. */
  async function serve(request: IncomingMessage, response: ServerResponse, serves: (session: OpenSession) => boolean): Promise<void> {
    const exchange = createExchange(request, response);
    const route = readRoute(exchange.method, exchange.url);
    const errorForm = dialects[errorDialectOf(exchange.url, exchange.headers)];
    const refuse = (fault: Fault): void => {
      request.resume();
      exchange.finish({ status: fault.status, contentType: "application/json", body: errorForm.errorBody(fault) });
    };
    const credential = credentialOf(exchange.headers, exchange.url);
    if (route.kind === "outside") return refuse(credential !== null && isRolloutKey(credential) ? otherRouteFault : noRouteFault);
    const session = sessions.get(route.rolloutId);
    if (route.kind === "health" && exchange.method === "HEAD") return answerHealth(exchange);
    const isHere = session !== undefined && serves(session);
    if (!isHere || credential === null || !isSameKey(credential, session.key)) {
      session?.core.refuse();
      return refuse(wrongKeyFault);
    }
    if (route.kind === "health") return answerHealth(exchange);
    if (route.kind === "models") return answerModels(exchange, session);
    const startedAt = clock.now();
    const body = await readBody(request, clock);
    if (!body.ok && "left" in body) {
      // No request: it never came whole. Nothing is recorded; it is told so, in case somebody still reads.
      exchange.closeAfterwards();
      if (body.fault !== null) refuse(body.fault);
      return;
    }
    if (!body.ok && body.unread) exchange.closeAfterwards();
    const bytes = body.ok ? body.bytes : new Uint8Array(0);
    const isCount = route.kind === "count";
    const read = session.reader.read({
      method: exchange.method,
      path: withoutKey(exchange.url),
      headers: exchange.headers,
      startedAt,
      body: isCount ? countedRequest(bytes) : bytes,
      dialect: "dialect" in route ? dialects[route.dialect] : errorForm,
      unknownPath: route.kind === "unknown",
      fault: body.ok ? null : body.fault,
    });
    const arrival = isCount ? { ...read, body: bytes } : read;
    if (isCount) session.core.count(arrival, exchange);
    else session.core.accept(arrival, exchange);
  }

  function listener(serves: (session: OpenSession) => boolean) {
    return (request: IncomingMessage, response: ServerResponse): void => {
      serve(request, response, serves).catch((error: unknown) => {
        console.error("proxy:", error);
        if (response.headersSent) {
          response.destroy();
          return;
        }
        const body = dialects[errorDialectOf(request.url ?? "", request.headers)].errorBody(brokenFault);
        response.writeHead(500, { "content-type": "application/json" }).end(body);
      });
    };
  }

  const port = await openPort(
    options.port ?? 0,
    listener(() => true),
  );

  return {
    address: port.address,
    async openSession(session) {
      const { rolloutId } = session;
      if (!/^[A-Za-z0-9._-]+$/.test(rolloutId))
        throw new WorkbenchError("usage", `"${rolloutId}" can't be part of an address.`, "Use letters, digits, dots, hyphens and underscores.");
      if (sessions.has(rolloutId))
        throw new WorkbenchError(
          "protocol",
          `The rollout ${rolloutId} already has an open session.`,
          "Close the session of its earlier attempt first.",
        );
      const tokenIn = await openTokenIn(session);
      const key = newRolloutKey();
      store.redactor.declare(rolloutKeyName, key, rolloutId);
      for (const secret of session.secrets) store.redactor.declare(secret.name, secret.value, rolloutId);
      const core = createSessionCore({ ...session, store, clock, tokenIn });
      const open: OpenSession = { options: session, key, reader: createRequestReader(session.quirks.volatileFields, media), core };
      const forget = (): void => {
        sessions.delete(rolloutId);
        store.redactor.forget(rolloutId);
      };
      sessions.set(rolloutId, open);
      try {
        const { door, socketFolder } = session;
        if (door !== undefined) return proxySession(open, core, { path: door.path, close: async () => undefined }, forget);
        const own =
          socketFolder === undefined
            ? null
            : await openSocket(
                socketFolder,
                listener((asked) => asked === open),
              );
        return proxySession(open, core, own, forget);
      } catch (error) {
        forget();
        throw error;
      }
    },
    async openAttach(attach) {
      const { id, upstream, tokenMode } = attach;
      if (sessions.has(id)) throw new WorkbenchError("protocol", `The address ${id} is in use.`, "Close it first.");
      const key = newRolloutKey();
      store.redactor.declare(rolloutKeyName, key, id);
      const core = createAttachCore(attach, async (rolloutId) => {
        const session: SessionOptions = { rolloutId, attempt: 0, upstream, tokenMode, quirks: attachedQuirks, secrets: [] };
        return createSessionCore({ ...session, store, clock, tokenIn: await openTokenIn(session) });
      });
      sessions.set(id, { options: { rolloutId: id, upstream }, key, reader: createRequestReader(attachedQuirks.volatileFields, media), core });
      return {
        key,
        path: `/r/${id}`,
        sessions: () => core.sessions(),
        async close() {
          core.endAgentPhase();
          await core.close();
          sessions.delete(id);
          store.redactor.forget(id);
        },
      };
    },
    async openDoor(folder) {
      const door: ProxyDoor = await openSocket(
        folder,
        listener((session) => session.options.door === door),
      );
      return door;
    },
    async close() {
      const open = [...sessions.values()];
      sessions.clear();
      for (const session of open) session.core.endAgentPhase();
      await port.close();
      for (const session of open) await session.core.close();
    },
  };
}

/** Of a program that nobody described: what most clients do. */
const attachedQuirks = {
  sessionHeaders: ["x-claude-code-session-id", "x-claude-code-agent-id", "session-id", "thread-id", "x-session-id", "x-parent-session-id"],
  volatileFields: ["metadata", "client_metadata"],
  keepaliveComments: true,
  returnsForAnswer: false,
} as const;

/** Some clients put their key into the address. */
function withoutKey(url: string): string {
  return url.replace(/([?&]key=)[^&]*/, "$1redacted");
}

function answerHealth(exchange: Exchange): void {
  exchange.finish({ status: 200, contentType: "application/json", body: exchange.method === "HEAD" ? "" : '{"status":"ok"}' });
}

/** `models` is what one client asks for beside OpenAI's `data`. */
function answerModels(exchange: Exchange, session: OpenSession): void {
  const data = [{ id: session.options.upstream.id, object: "model", created: 0, owned_by: "openforge" }];
  exchange.finish({ status: 200, contentType: "application/json", body: JSON.stringify({ object: "list", data, models: [] }) });
}

function proxySession(open: OpenSession, core: SessionCore, door: ProxyDoor | null, forget: () => void): ProxySession {
  let closed = false;
  return {
    key: open.key,
    path: `/r/${open.options.rolloutId}`,
    socketPath: door?.path ?? null,
    stats: () => core.stats(),
    onPolicyWait: (listener) => core.onPolicyWait(listener),
    endAgentPhase: () => core.endAgentPhase(),
    beginAgentPhase: () => core.beginAgentPhase(),
    async close() {
      if (closed) return;
      closed = true;
      core.endAgentPhase();
      await door?.close();
      await core.close();
      forget();
    },
  };
}
