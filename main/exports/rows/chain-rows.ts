/** The chains of a stored rollout as rows, before anything is known about advantages. */
import type { Chain } from "../../../engine/graph/index.ts";
import type { RolloutRecord, Store } from "../../store/index.ts";
import { readTranscript, rebuildTrajectories, type Trajectories, type TranscriptCall } from "../../trajectories/index.ts";
import type { RowTokens, TrainingRow } from "./training-row.ts";

/** The chain as the reconstruction has it; `tokens` is null for a text-only chain. */
export type ChainRow = Omit<TrainingRow, "tokens" | "group" | "step"> & { readonly tokens: Omit<RowTokens, "advantages"> | null };

export interface ChainRows {
  readonly rows: readonly ChainRow[];
  /** Tokens of the longest row. */
  readonly length: number;
  /** Why there is no row; null when there are some. */
  readonly reason: string | null;
}

/** Chains with something to train. `textToo`: also those without token ids, whose messages are all there is, but for side calls. */
export function chainRows(store: Store, rollout: RolloutRecord, textToo: boolean): ChainRows {
  const trajectories = rebuildTrajectories(store, rollout.id);
  const isText = (chain: Chain): boolean => chain.tokens === 0 && chain.breakCause !== "side";
  const wanted = trajectories.chains.filter((chain) => (chain.trainable && chain.trained > 0) || (textToo && isText(chain)));
  const length = Math.max(0, ...wanted.map((chain) => chain.tokens));
  if (wanted.length === 0) return { rows: [], length, reason: trajectories.reason ?? "no token to train" };
  const said = new Map(readTranscript(store, rollout.id, trajectories).map((call) => [call.call.index, call]));
  return { rows: wanted.map((chain) => chainRow(rollout, trajectories, chain, said)), length, reason: null };
}

function chainRow(rollout: RolloutRecord, trajectories: Trajectories, chain: Chain, said: ReadonlyMap<number, TranscriptCall>): ChainRow {
  const calls = chain.calls.flatMap((index) => said.get(index) ?? []);
  const owned = calls.slice(calls.length - chain.owned);
  const last = owned.at(-1);
  const answer = last?.answer?.message;
  return {
    rollout,
    chain: chain.number,
    tokens: chain.tokens === 0 ? null : trajectories.tokensOf(chain.number),
    messages: [...(last?.messages ?? []), ...(answer === undefined ? [] : [answer])],
    prompt: owned[0]?.messages.length ?? 0,
    tools: last?.tools ?? [],
    policyVersions: [...new Set(owned.map(({ call }) => call.policyVersion ?? rollout.policyVersion ?? rollout.policy))],
    turns: calls.length,
    truncated: owned.some(({ call }) => call.finishReason === "length"),
  };
}
