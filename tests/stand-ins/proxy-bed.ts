/** A store, a proxy and one rollout's session on a temporary data folder, for tests that speak to the proxy as a harness does. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Clock,
  type ProxyAttach,
  type ProxySession,
  type Proxy as RecordingProxy,
  type SessionOptions,
  startProxy,
  type Upstream,
} from "../../main/proxy/index.ts";
import { openStore, type Store, type TokenMode } from "../../main/store/index.ts";

export interface ProxyBed {
  readonly folder: string;
  readonly store: Store;
  readonly proxy: RecordingProxy;
  /** Opens a session for a new rollout. */
  open(upstream: Upstream, over?: Partial<SessionOptions>): Promise<OpenBed>;
  /** An address for programs outside; each of its sessions gets a rollout. */
  attach(upstream: Upstream, tokenMode: TokenMode): Promise<{ readonly attach: ProxyAttach; readonly rolloutIds: readonly string[] }>;
  close(): Promise<void>;
}

export interface OpenBed {
  readonly session: ProxySession;
  readonly rolloutId: string;
  /** With `/v1`. */
  readonly base: string;
  /** `path` below the base. */
  post(path: string, body: unknown, init?: RequestInit): Promise<Response>;
  chat(body: unknown, init?: RequestInit): Promise<Response>;
  responses(body: unknown, init?: RequestInit): Promise<Response>;
}

export async function layProxyBed(options: { readonly clock?: Clock } = {}): Promise<ProxyBed> {
  const folder = mkdtempSync(join(tmpdir(), "of-proxy-"));
  const store = openStore(folder);
  store.createExperiment({ id: "e1", name: "test", createdAt: 1, endedAt: null, spec: "{}", status: "running", kind: "experiment" });
  const proxy = await startProxy({ store, ...options });
  let rollouts = 0;
  return {
    folder,
    store,
    proxy,
    async open(upstream, over = {}) {
      rollouts += 1;
      const rolloutId = `r${rollouts}`;
      store.createRollouts([rolloutRecord(rolloutId)]);
      const session = await proxy.openSession({
        rolloutId,
        attempt: 0,
        upstream,
        tokenMode: "text-in",
        quirks: { sessionHeaders: ["session-id"], volatileFields: [], keepaliveComments: true, returnsForAnswer: true },
        secrets: [],
        ...over,
      });
      const base = `http://${proxy.address}${session.path}/v1`;
      const post = (path: string, body: unknown, init: RequestInit = {}): Promise<Response> =>
        fetch(base + path, {
          method: "POST",
          body: typeof body === "string" || body instanceof Uint8Array ? (body as NonNullable<RequestInit["body"]>) : JSON.stringify(body),
          ...init,
          headers: { authorization: `Bearer ${session.key}`, "content-type": "application/json", ...init.headers },
        });
      return {
        session,
        rolloutId,
        base,
        post,
        chat: (body, init) => post("/chat/completions", body, init),
        responses: (body, init) => post("/responses", body, init),
      };
    },
    async attach(upstream, tokenMode) {
      const rolloutIds: string[] = [];
      rollouts += 1;
      const attach = await proxy.openAttach({
        id: `a${rollouts}`,
        upstream,
        tokenMode,
        openSession() {
          rollouts += 1;
          store.createRollouts([rolloutRecord(`r${rollouts}`)]);
          rolloutIds.push(`r${rollouts}`);
          return `r${rollouts}`;
        },
      });
      return { attach, rolloutIds };
    },
    async close() {
      await proxy.close();
      store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function rolloutRecord(id: string): Parameters<Store["createRollouts"]>[0][number] {
  return {
    id,
    experimentId: "e1",
    taskName: "t",
    taskDigest: "d",
    taskPath: "/t",
    harness: "react",
    harnessVersion: "1",
    policy: "p",
    policyVersion: null,
    sandbox: "local",
    groupIndex: 0,
    seed: 0,
    phase: "running",
    outcome: null,
    reward: null,
    rewards: null,
    attempts: 1,
    phases: [],
    isolation: null,
    fingerprint: null,
    calls: 0,
    chains: 0,
    promptTokens: 0,
    completionTokens: 0,
    trainable: null,
    trainableReason: null,
    labels: {},
    policyWaitSeconds: null,
    steps: [],
    createdAt: 1,
    startedAt: 1,
    endedAt: null,
  };
}
