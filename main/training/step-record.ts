/** A step as it is kept: one point of the curves, its rollouts, its health. */
import { type ClusteredValue, meanWithInterval } from "../../engine/statistics/index.ts";
import type { StepReport } from "../../engine/training/index.ts";
import type { EstimateView, SecondsView, TrainingStepDetail, TrainingStepView } from "../api/training-views.ts";
import type { RolloutRecord } from "../store/index.ts";
import type { StepBatch, StepMember } from "./batch.ts";
import type { PolicyMeasures } from "./embedded/protocol.ts";
import { healthOf } from "./health.ts";
import type { StepRecord } from "./records.ts";

export interface StepFacts {
  readonly step: number;
  readonly stage: "sft" | "rl";
  readonly policyVersion: string;
  readonly seconds: SecondsView;
  readonly rate: number;
  /** Rollouts that the step was to learn from. */
  readonly planned: number;
  readonly members: readonly StepMember[];
  readonly batch: StepBatch;
  readonly rollouts: TrainingStepDetail["rollouts"];
  readonly reports: readonly StepReport[];
  readonly measures: PolicyMeasures | null;
  readonly metrics: Readonly<Record<string, number>>;
  readonly skipped: string | null;
  readonly divergenceCoefficient: number;
  readonly memoryBytes: number | null;
  readonly checkpoint: boolean;
}

export function stepRecord(facts: StepFacts): StepRecord {
  const { members, batch, rollouts, reports, measures, metrics, skipped, divergenceCoefficient, memoryBytes } = facts;
  const records = members.map(({ collected }) => collected.record).filter(({ outcome }) => outcome !== null && outcome.status !== "cancelled");
  const used = rollouts.filter(({ advantage, trainedTokens }) => advantage !== null || trainedTokens > 0);
  const fair = members.filter(({ leftOut, collected }) => leftOut === null && collected.record.reward !== null);
  const truncated = records.length === 0 ? null : records.filter(endedAtLimit).length / records.length;
  const flatGroupShare = measures?.flatGroupShare ?? null;
  const staleness = Math.max(0, ...members.filter(({ leftOut }) => leftOut === null).map((member) => member.staleness ?? 0));
  const point: TrainingStepView = {
    ...{ step: facts.step, stage: facts.stage, at: Date.now(), policyVersion: facts.policyVersion, seconds: facts.seconds, rate: facts.rate },
    ...{ rollouts: members.length, used: used.length, left: reasons(rollouts, batch) },
    reward: estimate(fair.map(({ collected: { record } }) => ({ cluster: record.taskName, value: record.reward ?? 0 }))),
    completionTokens: mean(records, ({ completionTokens }) => completionTokens),
    tokens: mean(records, ({ promptTokens, completionTokens }) => promptTokens + completionTokens),
    ...{ truncated, flatGroupShare, staleness, memoryBytes, checkpoint: facts.checkpoint },
    loss: average(reports, ({ loss }) => loss),
    gradientNorm: average(reports, ({ norm }) => norm),
    updates: reports.length,
    trainedTokens: reports[0]?.trainedTokens ?? 0,
    uniqueTokens: batch.uniqueTokens,
    metrics,
    health: [
      ...healthOf({
        ...{ planned: facts.planned, rewarded: fair.length, truncated, flatGroupShare, measures, metrics },
        trainedUnsampled: batch.trainedUnsampled,
      }),
    ],
  };
  return { format: 1, point, rollouts, skipped, divergenceCoefficient };
}

function endedAtLimit({ outcome }: RolloutRecord): boolean {
  return outcome?.status === "agent-timeout" || outcome?.cause === "budget-exceeded" || outcome?.cause === "context-overflow";
}

function reasons(rollouts: TrainingStepDetail["rollouts"], { chainsTooLong }: StepBatch): Record<string, number> {
  const counts: Record<string, number> = chainsTooLong > 0 ? { "chains too long": chainsTooLong } : {};
  for (const { leftOut } of rollouts) if (leftOut !== null) counts[leftOut] = (counts[leftOut] ?? 0) + 1;
  return counts;
}

function estimate(values: readonly ClusteredValue[]): EstimateView {
  const { n, mean: average, low, high } = meanWithInterval(values);
  return { n, mean: average, low, high };
}

function mean(records: readonly RolloutRecord[], value: (record: RolloutRecord) => number): number | null {
  return records.length === 0 ? null : records.reduce((sum, record) => sum + value(record), 0) / records.length;
}

function average(reports: readonly StepReport[], value: (report: StepReport) => number): number | null {
  return reports.length === 0 ? null : reports.reduce((sum, report) => sum + value(report), 0) / reports.length;
}
