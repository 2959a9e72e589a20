/** Trajectories of a rollout as the rest of the service sees them: chains of calls, token by token, trainable or not and why. */
import type { Chain, ChainTokens } from "../../engine/graph/index.ts";

/** One rollout's last attempt, rebuilt. Plain values; nothing is read from the store after it was made. */
export interface Trajectories {
  readonly chains: readonly Chain[];
  /** Chain that owns the call, by call index; absent = in none. */
  readonly chainOfCall: ReadonlyMap<number, number>;
  readonly trainable: boolean;
  /** One sentence; null when trainable. */
  readonly reason: string | null;
  /** Model calls of the attempt, failed ones too. */
  readonly calls: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Tokens with mask 1, over all chains. */
  readonly trainedTokens: number;
  /** How often each cause broke a chain. Causes that did not occur are absent. */
  readonly breaks: Readonly<Partial<Record<string, number>>>;
  /** Calls whose tokens take no part, by cause (`quarantined`, `undelivered` …). */
  readonly excluded: Readonly<Partial<Record<string, number>>>;
  /** Sampled tokens that are not trained because no finite log-probability came with them. */
  readonly withoutLogprob: number;
  /** Throws RangeError when there is no such chain. */
  tokensOf(chain: number): ChainTokens;
}

/** A run of tokens of one kind and one mask, as the token view shows it. `null` where nothing is known. */
export interface TokenSpan {
  readonly callIndex: number;
  readonly kind: "prompt" | "sampled";
  readonly mask: 0 | 1;
  readonly ids: readonly number[];
  readonly texts: readonly string[] | null;
  readonly logprobs: readonly (number | null)[] | null;
}

/** Fits `RolloutUpdate`: what the end of a rollout writes to its record. */
export interface TrajectoryTotals {
  readonly calls: number;
  readonly chains: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly trainable: boolean;
  readonly trainableReason: string | null;
}
