/** Rows of recorded rollouts, with the advantages that a named algorithm gives them. */

import type { Algorithm } from "../../../engine/training/index.ts";
import type { RolloutRecord, Store } from "../../store/index.ts";
import { giveWay } from "../give-way.ts";
import type { LeftOutList } from "../left-out.ts";
import { isByGroup, type RewardedRollout, withAdvantages } from "./advantages.ts";
import { type ChainRow, chainRows } from "./chain-rows.ts";
import type { TrainingRow } from "./training-row.ts";

export interface RowSource {
  readonly store: Store;
  /** Whose rewards are compared. */
  readonly rollouts: readonly RolloutRecord[];
  readonly leftOut: LeftOutList;
  report(line: string): void;
  readonly signal: AbortSignal;
}

/** For reinforcement: what has a reward and token ids. Rewards are compared within task, harness and policy. */
export async function* rewardedRows(source: RowSource, algorithm: Algorithm): AsyncGenerator<TrainingRow> {
  const groups = new Map<string, RolloutRecord[]>();
  for (const rollout of source.rollouts) {
    const key = groupOf(rollout);
    groups.set(key, [...(groups.get(key) ?? []), rollout]);
  }
  const batches = isByGroup(algorithm) ? [...groups.values()] : [[...groups.values()].flat()];
  let done = 0;
  for (const batch of batches) {
    const usable: RewardedRollout[] = [];
    for (const rollout of batch) {
      await giveWay(source.signal);
      const rewarded = rewardedRollout(source, rollout);
      if (rewarded !== null) usable.push(rewarded);
    }
    yield* batchRows(source, usable, algorithm);
    done += batch.length;
    source.report(`${done} of ${source.rollouts.length} rollouts`);
  }
}

/**
 * For supervised training: what succeeded, or all that may be trained; rows without token ids too. Advantages are those of the whole
 * group, failures included.
 */
export async function* supervisedRows(source: RowSource, algorithm: Algorithm, all: boolean): AsyncGenerator<TrainingRow> {
  const { store, leftOut, signal } = source;
  const candidates = source.rollouts.filter((rollout) => {
    const fault = faultOf(rollout, false);
    if (fault !== null) leftOut.add(rollout.id, fault);
    return fault === null;
  });
  const failed = new Set(all ? [] : candidates.filter(({ outcome }) => outcome?.status !== "succeeded"));
  for (const { id } of failed) leftOut.add(id, "did not succeed (--all keeps it)");
  const rewarded = candidates.filter(({ reward, trainable }) => reward !== null && trainable === true);
  for await (const row of rewardedRows({ ...source, rollouts: rewarded }, { ...algorithm, flatGroups: "keep" }))
    if (!failed.has(row.rollout)) yield row;
  for (const rollout of candidates) {
    if (rewarded.includes(rollout) || failed.has(rollout)) continue;
    await giveWay(signal);
    const { rows, reason } = chainRows(store, rollout, true);
    if (reason !== null) leftOut.add(rollout.id, reason);
    const group = groupOf(rollout);
    for (const row of rows) yield { ...row, group, tokens: row.tokens === null ? null : { ...row.tokens, advantages: null }, step: null };
  }
}

function rewardedRollout({ store, leftOut }: RowSource, rollout: RolloutRecord): RewardedRollout | null {
  const fault = faultOf(rollout, true);
  if (fault !== null || rollout.reward === null) {
    leftOut.add(rollout.id, fault ?? "no reward");
    return null;
  }
  const { rows, length, reason } = chainRows(store, rollout, false);
  if (reason !== null) {
    leftOut.add(rollout.id, reason);
    return null;
  }
  const hasTokens = (row: ChainRow): row is RewardedRollout["rows"][number] => row.tokens !== null;
  return { id: rollout.id, reward: rollout.reward, group: groupOf(rollout), length, rows: rows.filter(hasTokens) };
}

function* batchRows({ leftOut }: RowSource, rollouts: readonly RewardedRollout[], algorithm: Algorithm): Generator<TrainingRow> {
  if (rollouts.length === 0) return;
  const tokens = withAdvantages(rollouts, algorithm);
  let at = 0;
  for (const { id, rows, group } of rollouts) {
    const trained = rows.map((row) => ({ ...row, tokens: tokens[at++] ?? null, group, step: null }));
    const kept = trained.filter((row) => row.tokens?.mask.includes(1) === true);
    if (kept.length === 0) leftOut.add(id, "its group has equal rewards, which the algorithm drops");
    yield* kept;
  }
}

/** Why a rollout as such takes no part; null when it may. */
function faultOf({ phase, outcome, reward }: RolloutRecord, wantsReward: boolean): string | null {
  if (phase !== "ended" || outcome === null) return "has not ended";
  if (outcome.action !== "train")
    return `${outcome.status}${outcome.cause === null ? "" : `, ${outcome.cause}`}: ${outcome.action === "mask" ? "masked" : "discarded"}`;
  return wantsReward && reward === null ? "no reward" : null;
}

/** Rollouts whose rewards are compared share it. */
export function groupOf({ taskDigest, harness, policy }: RolloutRecord): string {
  return JSON.stringify([taskDigest, harness, policy]);
}
