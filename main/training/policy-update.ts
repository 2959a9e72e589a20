/** One policy step in the trainer, and what it made of each rollout and token. */
import { adaptCoefficient, aggregationWeights, type Matrix } from "../../engine/algorithms/index.ts";
import { plainSampling } from "../../engine/decoding/index.ts";
import type { Algorithm, StepReport } from "../../engine/training/index.ts";
import type { TrainingStepDetail } from "../api/training-views.ts";
import type { StepBatch, StepMember } from "./batch.ts";
import type { PolicyMeasures } from "./embedded/protocol.ts";
import type { EmbeddedTrainer } from "./embedded/trainer.ts";
import type { StepTokens } from "./records.ts";

export interface UpdateSettings {
  readonly algorithm: Algorithm;
  readonly divergenceCoefficient: number;
  readonly updates: number;
  readonly rate: number;
  /** That the rollouts were drawn at. */
  readonly temperature: number;
  readonly signal: AbortSignal;
}

export interface Update {
  readonly reports: readonly StepReport[];
  readonly measures: PolicyMeasures | null;
  /** Why nothing was trained. */
  readonly skipped: string | null;
  readonly divergenceCoefficient: number;
  /** Most that the trainer has taken so far; null when it was not asked. */
  readonly memoryBytes: number | null;
}

export async function updatePolicy(trainer: EmbeddedTrainer, batch: StepBatch, settings: UpdateSettings): Promise<Update> {
  const { algorithm, divergenceCoefficient, updates, rate, temperature, signal } = settings;
  if (batch.rows.length === 0)
    return { reports: [], measures: null, skipped: "no rollout can be learnt from", divergenceCoefficient, memoryBytes: null };
  const { reports, measures, skipped, memoryBytes } = await trainer.policyStep(
    {
      ...{ sequences: batch.rows.map(({ ids }) => ids), mask: batch.mask, sampler: batch.sampler, sampling: { ...plainSampling, temperature } },
      ...{ rollouts: batch.rollouts, rolloutOfRow: batch.rolloutOfRow, algorithm, divergenceCoefficient, epochs: updates, rate },
    },
    { signal },
  );
  const followedCoefficient = followed(divergenceCoefficient, algorithm, measures, batch.rows.length);
  return { reports, measures, skipped, divergenceCoefficient: followedCoefficient, memoryBytes };
}

function followed(coefficient: number, { divergence }: Algorithm, measures: PolicyMeasures | null, rows: number): number {
  const observed = measures?.divergenceInReward ?? null;
  if (divergence === null || divergence.adaptive === null || observed === null) return coefficient;
  return adaptCoefficient(coefficient, observed, rows, divergence.adaptive);
}

/** Means over a step's updates; what was measured once, before them, as it is. */
export function metricsOf({ reports, measures }: Pick<Update, "reports" | "measures">): Record<string, number> {
  const metrics: Record<string, number> = {};
  for (const name of new Set(reports.flatMap((report) => Object.keys(report.metrics)))) {
    metrics[name] = reports.reduce((sum, report) => sum + (report.metrics[name] ?? 0), 0) / reports.length;
  }
  if (measures === null) return metrics;
  const { gap, correction, divergenceInReward } = measures;
  const measured = {
    ...(gap === null ? {} : { samplerGapK1: gap.k1, samplerGapK3: gap.k3, perplexityRatio: gap.perplexityRatio, chiSquare: gap.chiSquareToken }),
    ...(correction === null ? {} : { rejectedTokens: correction.rejected.tokens }),
    ...(correction?.importance == null
      ? {}
      : {
          effectiveSampleSize: correction.importance.effectiveSampleSize,
          importanceMean: correction.importance.mean,
          importanceMax: correction.importance.max,
        }),
    ...(divergenceInReward === null ? {} : { divergenceInReward }),
  };
  return Object.fromEntries(Object.entries({ ...metrics, ...measured }).filter(([, value]) => Number.isFinite(value)));
}

/** Every rollout of the step with its advantage, its trained tokens and its share of the loss. */
export function rolloutRows(
  members: readonly StepMember[],
  batch: StepBatch,
  measures: PolicyMeasures | null,
  algorithm: Algorithm,
): TrainingStepDetail["rollouts"] {
  const sums = sumsByRollout(batch, measures, algorithm);
  const all = sums.reduce((sum, { loss }) => sum + loss, 0);
  const flat = flatGroups(batch);
  return members.map(({ collected: { wanted, record }, leftOut }) => {
    const own = sums[batch.rolloutIds.indexOf(record.id)];
    const takesPart = leftOut === null && own !== undefined && own.tokens > 0;
    return {
      ...{ rollout: record.id, task: record.taskName, harness: record.harness, group: wanted.group, policyVersion: record.policyVersion ?? "" },
      reward: record.reward,
      advantage: takesPart ? own.advantage / own.tokens : null,
      trainedTokens: takesPart ? own.tokens : 0,
      lossShare: takesPart && all > 0 ? own.loss / all : null,
      leftOut: leftOut ?? (takesPart || measures === null ? null : flat.has(wanted.group) ? "group without variance" : "every token rejected"),
    };
  });
}

function flatGroups({ rollouts }: StepBatch): ReadonlySet<string> {
  const rewards = new Map<string, Set<number>>();
  for (const { group, reward } of rollouts) rewards.set(group, (rewards.get(group) ?? new Set()).add(reward));
  return new Set([...rewards].filter(([, different]) => different.size < 2).map(([group]) => group));
}

function sumsByRollout({ rollouts, rolloutOfRow }: StepBatch, measures: PolicyMeasures | null, algorithm: Algorithm) {
  const sums = rollouts.map(() => ({ tokens: 0, advantage: 0, loss: 0 }));
  if (measures === null) return sums;
  const { mask, advantages } = measures;
  const share = aggregationWeights(mask, { mode: algorithm.aggregation, rolloutOfRow });
  eachTrained(mask, (index, row) => {
    const own = sums[rolloutOfRow[row] ?? 0];
    if (own === undefined) return;
    const advantage = advantages.values[index] ?? 0;
    own.tokens += 1;
    own.advantage += advantage;
    own.loss += Math.abs(advantage) * (share.values[index] ?? 0);
  });
  return sums;
}

export function tokenRows({ rows }: StepBatch, measures: PolicyMeasures | null): StepTokens["rows"] {
  const tokens = rows.map(({ rollout, chain, ids }) => ({
    ...{ rollout, chain, length: ids.length },
    ...{ positions: [] as number[], advantages: [] as number[], trainerLogprobs: [] as (number | null)[] },
  }));
  if (measures === null) return tokens;
  const { mask, advantages, old } = measures;
  eachTrained(mask, (index, row) => {
    const own = tokens[row];
    const logprob = old.values[index] ?? Number.NaN;
    own?.positions.push((index % mask.width) + 1);
    own?.advantages.push(advantages.values[index] ?? 0);
    own?.trainerLogprobs.push(Number.isFinite(logprob) ? logprob : null);
  });
  return tokens;
}

function eachTrained({ values, width }: Matrix, visit: (index: number, row: number) => void): void {
  for (const [index, trains] of values.entries()) if (trains === 1) visit(index, Math.floor(index / width));
}
