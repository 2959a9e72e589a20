/** From collected rollouts to the rows of a policy step: chains with their masks, and for each rollout left out the reason. */
import type { Matrix } from "../../engine/algorithms/index.ts";
import type { RolloutOutcome } from "../../engine/training/index.ts";
import type { RolloutRecord } from "../store/index.ts";
import type { Collected } from "./collect.ts";
import type { Controls } from "./run-file.ts";

interface BatchRow {
  readonly rollout: string;
  readonly chain: number;
  readonly ids: Int32Array;
}

/** A rollout with what becomes of it. */
export interface StepMember {
  readonly collected: Collected;
  /** As the update takes it; null = none. */
  readonly reward: number | null;
  /** Versions behind the weights that are trained; null = not known. */
  readonly staleness: number | null;
  /** null = takes part. */
  readonly leftOut: string | null;
}

export interface StepBatch {
  readonly members: readonly StepMember[];
  readonly rows: readonly BatchRow[];
  readonly mask: Matrix;
  /** null: what is trained was not sampled, so the sampler has no numbers for it. */
  readonly sampler: Matrix | null;
  readonly rollouts: readonly RolloutOutcome[];
  /** Ids of `rollouts`. */
  readonly rolloutIds: readonly string[];
  readonly rolloutOfRow: readonly number[];
  /** Share of the trained tokens that the policy did not sample: 0, or the mask is wrong. */
  readonly trainedUnsampled: number;
  /** Tokens of all rows together, and distinct ones: chains of a rollout repeat what they share. */
  readonly uniqueTokens: number;
  /** Chains longer than a sequence may be. */
  readonly chainsTooLong: number;
}

export interface BatchRules {
  /** Updates made before this step. */
  readonly version: number;
  readonly stalenessLimit: number;
  readonly stale: "correct" | "drop";
  readonly longest: number;
  readonly controls: Controls;
  /** Of the step, for the controls. */
  readonly seed: number;
}

/** A chain that may be trained: one entry a token. */
export interface ChainRow extends BatchRow {
  readonly mask: Uint8Array;
  /** By the sampler; NaN where there is none. */
  readonly logprobs: Float32Array;
}

interface Row extends ChainRow {
  /** First token that no earlier chain of the rollout has. */
  readonly shared: number;
}

/** `members`: as judged by their outcomes; here those without a token to train are left out too. */
export function buildBatch(
  members: readonly StepMember[],
  rowsOf: (record: RolloutRecord) => readonly ChainRow[],
  { longest, controls }: Pick<BatchRules, "longest" | "controls">,
): StepBatch {
  let chainsTooLong = 0;
  const rows: Row[] = [];
  const rollouts: RolloutOutcome[] = [];
  const rolloutIds: string[] = [];
  const rolloutOfRow: number[] = [];
  const judged = members.map((member): StepMember => {
    if (member.leftOut !== null || member.reward === null) return member;
    const { record } = member.collected;
    const chains = rowsOf(record);
    const kept = fitting(chains, longest);
    const tooLong = chains.length - kept.length;
    chainsTooLong += tooLong;
    if (kept.length === 0) return { ...member, leftOut: tooLong > 0 ? `longer than ${longest} tokens` : "no token to train" };
    for (const row of kept) {
      rows.push(row);
      rolloutOfRow.push(rollouts.length);
    }
    rollouts.push({ reward: member.reward, group: member.collected.wanted.group, length: Math.max(...kept.map(({ ids }) => ids.length)) });
    rolloutIds.push(record.id);
    return member;
  });
  const matrices = matricesOf(rows, controls.invertMask === true);
  const uniqueTokens = rows.reduce((sum, { ids, shared }) => sum + ids.length - shared, 0);
  return { members: judged, rows, ...matrices, rollouts, rolloutIds, rolloutOfRow, uniqueTokens, chainsTooLong };
}

function fitting(rows: readonly ChainRow[], longest: number): readonly Row[] {
  const kept: Row[] = [];
  for (const row of rows.filter(({ ids }) => ids.length <= longest)) {
    kept.push({ ...row, shared: Math.max(0, ...kept.map(({ ids }) => commonPrefix(ids, row.ids))) });
  }
  return kept;
}

function commonPrefix(left: Int32Array, right: Int32Array): number {
  const most = Math.min(left.length, right.length);
  for (let at = 0; at < most; at += 1) if (left[at] !== right[at]) return at;
  return most;
}

/** Column i is the token that follows token i. */
function matricesOf(rows: readonly Row[], inverted: boolean): Pick<StepBatch, "mask" | "sampler" | "trainedUnsampled"> {
  const width = Math.max(1, ...rows.map(({ ids }) => ids.length - 1));
  const mask = { rows: rows.length, width, values: new Float64Array(rows.length * width) };
  const sampler = { ...mask, values: new Float64Array(mask.values.length) };
  let trained = 0;
  let unsampled = 0;
  for (const [row, { ids, mask: ofChain, logprobs }] of rows.entries()) {
    for (let at = 1; at < ids.length; at += 1) {
      const trains = (ofChain[at] === 1) !== inverted;
      if (!trains) continue;
      const index = row * width + at - 1;
      const logprob = logprobs[at] ?? Number.NaN;
      mask.values[index] = 1;
      trained += 1;
      if (Number.isFinite(logprob)) sampler.values[index] = logprob;
      else unsampled += 1;
    }
  }
  return { mask, sampler: unsampled > 0 ? null : sampler, trainedUnsampled: trained === 0 ? 0 : unsampled / trained };
}

/** Updates behind which the oldest answer of a rollout was sampled; null when its stamps name none. */
export function stalenessOf({ policyVersion }: Pick<RolloutRecord, "policyVersion">, version: number): number | null {
  const steps = (policyVersion ?? "").split(", ").flatMap((stamp) => /@(\d+)$/.exec(stamp)?.[1] ?? []);
  return steps.length === 0 ? null : version - Math.min(...steps.map(Number));
}
