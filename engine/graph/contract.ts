/**
 * The calls of one attempt as a prefix forest over token ids, and its chains.
 * A node is a call with tokens; its parent is the call with the longest prompt + completion that its own prompt begins with.
 * One child of a node extends its chain: the first of the same thread, else the first; every other child begins a new chain.
 * The chain that a node extends or begins owns the node's sampled tokens: only there can their mask be 1. So a sampled token
 * that may be trained has mask 1 in exactly one chain, and 0 in the others that contain it.
 * A call that is excluded and that nothing goes on from is in no chain, but for a side call, which is shown and not trained.
 */

/** Tokens a call adds to its parent. The store's NodeRecord has this shape. */
export interface GraphNode {
  readonly callId: string;
  readonly parentCallId: string | null;
  /** A negative id stands for one that was blanked because it spells a secret. */
  readonly addedPromptIds: Int32Array;
  readonly sampledIds: Int32Array;
  /** One per sampled id, not finite where the engine gave no number; or empty when none were captured. */
  readonly logprobs: Float32Array;
  readonly promptLength: number;
}

/**
 * Why sampled tokens of a call are not trained, whatever chain they are on. `undelivered`: the client went away before the
 * answer was flushed. `edited`: another answer than the sampled one was released. `late`: after the agent's time. `side`: the harness
 * made it beside its main loop (a title, a topic); it never extends the chain of a call that is none.
 */
export type Exclusion = "undelivered" | "quarantined" | "edited" | "late" | "side";

/** A message by role and meaning: equal keys mean the same message. */
export interface MessageKey {
  readonly role: string;
  readonly key: string;
}

/** What is known about a call besides its tokens. */
export interface GraphCall {
  readonly id: string;
  /** Number of the call in its attempt; the order of the forest. */
  readonly index: number;
  readonly excluded: Exclusion | null;
  /** Cause that the prompt assembly recorded, if it did. */
  readonly recordedBreak: BreakCause | null;
  /** Messages of the request, in order. Empty when unknown. */
  readonly messages: readonly MessageKey[];
  /** Key of the answer as a message; null when unknown. */
  readonly answer: string | null;
  /** Key of the tool definitions; null when unknown. */
  readonly tools: string | null;
  /** Conversation that the harness names in its headers; null when it names none. */
  readonly thread: string | null;
}

export const breakCauses = ["template", "re-tokenisation", "compaction", "subagent", "tools-changed", "edited-turn", "branch", "side"] as const;
/** `edited-turn`: the harness changed a message it had sent. `branch`: two calls go on from the same history. `side`: a side call. */
export type BreakCause = (typeof breakCauses)[number];

export interface Chain {
  readonly number: number;
  /** Indexes of the calls on the path, root first. */
  readonly calls: readonly number[];
  /** How many of them, from the end, this chain owns. */
  readonly owned: number;
  /** Tokens on the path; 0 for a text-only chain. */
  readonly tokens: number;
  /** Tokens with mask 1. */
  readonly trained: number;
  /** Why this chain is not the continuation of an earlier one; null for the first. */
  readonly breakCause: BreakCause | null;
  readonly trainable: boolean;
  /** Why not; null when trainable. */
  readonly reason: string | null;
}

export interface TokenSegment {
  readonly callIndex: number;
  readonly kind: "prompt" | "sampled";
  /** Half-open, positions on the chain. */
  readonly start: number;
  readonly end: number;
}

/** A chain laid out: what a trainer reads and the token view shows. All arrays have one entry a token. */
export interface ChainTokens {
  readonly ids: Int32Array;
  readonly mask: Uint8Array;
  /** NaN where none was captured and on everything not sampled. */
  readonly logprobs: Float32Array;
  /** Without gaps, in order; empty ones are left out. */
  readonly segments: readonly TokenSegment[];
}

interface ReconstructionCounts {
  readonly sampled: number;
  readonly trained: number;
  readonly breaks: Readonly<Partial<Record<BreakCause, number>>>;
  /** Calls whose sampled tokens take no part. */
  readonly excluded: Readonly<Partial<Record<Exclusion, number>>>;
  /** Sampled tokens left out because no finite log-probability came with them. */
  readonly withoutLogprob: number;
}

export interface Reconstruction {
  readonly chains: readonly Chain[];
  /** Chain that owns the call, by call index; a call that is in none is absent. */
  readonly chainOfCall: ReadonlyMap<number, number>;
  readonly counts: ReconstructionCounts;
  /** Some chain is trainable. */
  readonly trainable: boolean;
  /** Why none is; null when trainable. */
  readonly reason: string | null;
  /** Throws RangeError when there is no such chain. */
  tokensOf(chain: number): ChainTokens;
}

/** Where a finished call belongs, found while the rollout runs. */
export interface Placement {
  readonly parentCallId: string | null;
  readonly addedPromptIds: Int32Array;
  readonly promptLength: number;
}

export interface PlacementIndex {
  /** Places one call after all it was sampled after; O(prompt length). The arrays are kept, not copied. */
  placeCall(call: { readonly callId: string; readonly promptIds: Int32Array; readonly sampledIds: Int32Array }): Placement;
}
