/** An evaluation on held-out tasks: what came of its rollouts, with intervals over tasks. */

import { setImmediate } from "node:timers/promises";
import { type MeasuredRollout, summariseBehaviour } from "../../engine/behaviour/index.ts";
import { isPolicysDoing } from "../../engine/outcome/index.ts";
import { type ClusteredValue, comparePaired, meanOverTasks, passOverTasks, taskResults } from "../../engine/statistics/index.ts";
import { measureRollout } from "../analysis/index.ts";
import type { EstimateView, EvaluationView, GainView } from "../api/training-views.ts";
import type { Store } from "../store/index.ts";
import type { Collected } from "./collect.ts";
import type { EvaluationRecord } from "./records.ts";

export interface EvaluationFacts {
  readonly step: number;
  readonly policyVersion: string;
  readonly samples: number;
  readonly passes: readonly number[];
  readonly seconds: number;
}

type EvaluatedRollout = EvaluationRecord["rollouts"][number];

export async function evaluationOf(
  store: Store,
  collected: readonly Collected[],
  facts: EvaluationFacts,
): Promise<Omit<EvaluationRecord, "seconds">> {
  const rollouts = collected.map(evaluated);
  const by = (key: (rollout: EvaluatedRollout) => string | null): Record<string, EstimateView> => {
    const names = [...new Set(rollouts.flatMap((rollout) => key(rollout) ?? []))].toSorted();
    return Object.fromEntries(names.map((name) => [name, estimate(successes(rollouts.filter((rollout) => key(rollout) === name)))]));
  };
  const records = collected.map(({ record }) => record);
  const sum = (value: (record: (typeof records)[number]) => number): number => records.reduce((total, record) => total + value(record), 0);
  const measured: MeasuredRollout[] = [];
  for (const { wanted, record } of collected) {
    measured.push({ task: record.taskName, measures: measureRollout(store, record, wanted.task.requiredTools) });
    // Measuring reads bodies: the service answers in between.
    await setImmediate();
  }
  return {
    format: 1,
    rollouts,
    view: {
      ...{ step: facts.step, policyVersion: facts.policyVersion, at: Date.now(), samples: facts.samples },
      success: estimate(successes(rollouts)),
      passes: passes(rollouts, facts),
      families: by(({ family }) => family),
      harnesses: by(({ harness }) => harness),
      behaviour: Object.fromEntries(Object.entries(summariseBehaviour(measured).measures).filter(([, { n }]) => n > 0)),
      budget: {
        rollouts: records.length,
        calls: sum(({ calls }) => calls),
        promptTokens: sum(({ promptTokens }) => promptTokens),
        completionTokens: sum(({ completionTokens }) => completionTokens),
        seconds: facts.seconds,
      },
      missing: missing(rollouts),
    },
  };
}

function evaluated({ wanted, record }: Collected): EvaluatedRollout {
  const { outcome, reward } = record;
  const fair = outcome !== null && reward !== null && isPolicysDoing(outcome);
  return {
    ...{ rollout: record.id, task: record.taskName, family: wanted.task.family, harness: record.harness },
    success: fair ? Number(reward >= wanted.task.maxReward) : null,
    cause: fair ? null : (outcome?.cause ?? outcome?.status ?? "not-ended"),
  };
}

function successes(rollouts: readonly EvaluatedRollout[]): readonly ClusteredValue[] {
  return rollouts.flatMap(({ task, success }) => (success === null ? [] : [{ cluster: task, value: success }]));
}

function estimate(values: readonly ClusteredValue[]): EstimateView {
  const { n, mean, low, high } = meanOverTasks(values);
  return { n, mean, low, high };
}

/** A task in two harnesses is two tasks here: k draws are of one and the same situation. */
function passes(rollouts: readonly EvaluatedRollout[], facts: EvaluationFacts): EvaluationView["passes"] {
  const results = taskResults(
    rollouts.flatMap(({ task, harness, success }) => (success === null ? [] : [{ cluster: `${task}\n${harness}`, value: success }])),
  );
  const found: Record<string, EstimateView> = {};
  for (const k of facts.passes.filter((one) => one <= facts.samples)) {
    for (const [name, kind] of [
      [`pass@${k}`, "any"],
      [`pass^${k}`, "all"],
    ] as const) {
      const { n, mean, low, high } = passOverTasks(results, k, kind);
      found[name] = { n, mean, low, high };
    }
  }
  return found;
}

function missing(rollouts: readonly EvaluatedRollout[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { cause } of rollouts) if (cause !== null) counts[cause] = (counts[cause] ?? 0) + 1;
  return counts;
}

/** Paired by task and harness; null when they share none. */
export function gainOf(before: EvaluationRecord, after: EvaluationRecord): GainView | null {
  const values = ({ rollouts }: EvaluationRecord): readonly ClusteredValue[] =>
    rollouts.flatMap(({ task, harness, success }) => (success === null ? [] : [{ cluster: `${task}\n${harness}`, value: success }]));
  const { gain, signs, differences } = comparePaired(values(before), values(after));
  if (gain.mean === null) return null;
  return { n: differences.length, mean: gain.mean, low: gain.low, high: gain.high, paired: true, ...signs };
}
