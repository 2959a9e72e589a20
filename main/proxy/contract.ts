/**
 * What the recording proxy promises to the rest of the service.
 * A harness reaches its policy at `<origin>/r/<rolloutId>/v1/chat/completions|responses|models` with its session's key, over
 * loopback TCP or the session's unix socket. Every model call is durable in the store before its answer is released.
 */
import type { CaptureLevel } from "../../engine/conversation/index.ts";
import type { TokenMode } from "../store/index.ts";
import type { Upstream, UpstreamFailureKind } from "./upstreams/upstream.ts";

/** Time and waiting; passed in, so that tests own it. */
export interface Clock {
  /** Unix milliseconds. */
  now(): number;
  /** Runs `action` once after `ms`; the returned function calls it off. */
  after(ms: number, action: () => void): () => void;
}

/** Names calls beside the main loop; all that is given must hold, and `*` in a text stands for any. */
export interface SideCallRule {
  readonly name: string;
  readonly model?: string | undefined;
  /** By header name. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The request's system and developer texts. */
  readonly system?: string | undefined;
  /** Whether it brings tools. */
  readonly tools?: boolean | undefined;
}

/** What a harness's manifest says about its requests. */
interface SessionQuirks {
  /** Request headers kept with each call: thread, parent, subagent marks. Lower case. */
  readonly sessionHeaders: readonly string[];
  /** Dotted paths (`*` for any key or index) that differ between requests that mean the same. */
  readonly volatileFields: readonly string[];
  /** The first that fits a request names it; left out = none. */
  readonly sideCalls?: readonly SideCallRule[];
  /** This client counts stream comments as life. */
  readonly keepaliveComments: boolean;
  /** This client comes back for an answer whose connection it cut itself. */
  readonly returnsForAnswer: boolean;
}

interface SessionSecret {
  readonly name: string;
  readonly value: string;
}

export interface SessionOptions {
  readonly rolloutId: string;
  /** 0-based attempt of the rollout. */
  readonly attempt: number;
  readonly upstream: Upstream;
  readonly tokenMode: TokenMode;
  /** Folder for a unix socket of this session alone; left out = none. The whole socket path stays under 100 bytes. */
  readonly socketFolder?: string;
  /** In place of a socket of its own: a door that serves one session after another. */
  readonly door?: ProxyDoor;
  readonly quirks: SessionQuirks;
  readonly secrets: readonly SessionSecret[];
  /** Tokens of one answer at most; a request that asks for more is clamped. */
  readonly maxTokens?: number;
  /** Tokens of prompt and answer together; default is what the upstream says. */
  readonly contextWindow?: number;
  /** Words about the task, for scripted policies. */
  readonly labels?: { readonly task?: string; readonly harness?: string };
  /** Of the rollout, for policies that sample here. */
  readonly seed?: number;
}

export interface SessionStats {
  /** Model calls recorded so far (unknown paths, counts of tokens and health calls are not among them). */
  readonly calls: number;
  readonly answered: number;
  readonly failed: number;
  readonly aborted: number;
  readonly late: number;
  readonly unknownPaths: number;
  /** Requests that asked how many tokens they would be: recorded, and no model calls. */
  readonly tokenCounts: number;
  /** Requests with a wrong key or for another rollout; they are counted, not recorded. */
  readonly refused: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** The lowest level of all answered calls; `nothing` before the first. */
  readonly capture: CaptureLevel;
  readonly lastFailure: { readonly kind: UpstreamFailureKind; readonly message: string } | null;
  /** The last failure of this session stands: no call was answered after it. */
  readonly failing: boolean;
  readonly contextOverflow: boolean;
  readonly unparsedToolCall: boolean;
  /** The last answer ended at its limit of tokens. */
  readonly answerCut: boolean;
  readonly secretSeen: boolean;
}

/** Told, in real time, while calls of a session wait for their policy; overlapping waits are told apart. */
export interface PolicyWaitListener {
  waitBegins(): void;
  /** Of this wait, the last `chargedMs` milliseconds were the policy's work after all. */
  waitEnds(chargedMs: number): void;
}

export interface ProxySession {
  /** Opens this session's model routes and nothing else. */
  readonly key: string;
  /** `/r/<rolloutId>`; base URL of a dialect = origin + path + `/v1`. */
  readonly path: string;
  /** Host path of the unix socket; null when no folder was given. */
  readonly socketPath: string | null;
  stats(): SessionStats;
  /** For the budget of whoever runs the agent; one listener a session. */
  onPolicyWait(listener: PolicyWaitListener): void;
  /** The agent's time is over: running calls are cancelled, later ones are recorded as late and refused. */
  endAgentPhase(): void;
  /** The session goes on with another agent: calls are answered again. */
  beginAgentPhase(): void;
  /** Ends the agent phase, closes the socket and forgets the key. */
  close(): Promise<void>;
}

/** A unix socket that outlives sessions: it serves those that were opened with it, and no others. */
export interface ProxyDoor {
  /** Host path of the socket. */
  readonly path: string;
  close(): Promise<void>;
}

export interface AttachOptions {
  /** Part of the address. */
  readonly id: string;
  readonly upstream: Upstream;
  readonly tokenMode: TokenMode;
  /** Makes the record of a session that has just begun; returns its rollout's id. */
  openSession(about: { readonly dialect: string; readonly client: string }): string;
}

/** A base address and key for a program outside any sandbox. */
export interface ProxyAttach {
  readonly key: string;
  /** `/r/<id>`. */
  readonly path: string;
  sessions(): readonly { readonly rolloutId: string; readonly stats: SessionStats }[];
  /** Cancels what runs and forgets the key. */
  close(): Promise<void>;
}

export interface Proxy {
  /** `127.0.0.1:PORT`. */
  readonly address: string;
  openSession(options: SessionOptions): Promise<ProxySession>;
  openAttach(options: AttachOptions): Promise<ProxyAttach>;
  /** `folder` as `socketFolder`. */
  openDoor(folder: string): Promise<ProxyDoor>;
  close(): Promise<void>;
}
