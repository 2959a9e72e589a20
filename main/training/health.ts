/** What is wrong with a step, if anything: a measure beyond its limit, and one sentence that says what it means. */
import type { HealthView } from "../api/training-views.ts";
import type { PolicyMeasures } from "./embedded/protocol.ts";

export interface HealthFacts {
  readonly planned: number;
  /** Rollouts that can be learnt from, flat groups included. */
  readonly rewarded: number;
  readonly truncated: number | null;
  readonly flatGroupShare: number | null;
  readonly trainedUnsampled: number;
  readonly measures: PolicyMeasures | null;
  readonly metrics: Readonly<Record<string, number>>;
}

/** Worst first: what spoils the run, then what slows it. */
export function healthOf(facts: HealthFacts): readonly HealthView[] {
  const { planned, rewarded, truncated, flatGroupShare, trainedUnsampled, measures, metrics } = facts;
  const percent = (value: number): string => `${Math.round(100 * value)} %`;
  const found: HealthView[] = [];
  const above = (measure: string, value: number | null | undefined, limit: number, message: (value: number) => string): void => {
    if (value !== null && value !== undefined && value > limit) found.push({ measure, value, limit, message: message(value) });
  };
  above(
    "mask",
    trainedUnsampled,
    0,
    (value) => `The mask is inverted or shifted: ${percent(value)} of the trained tokens were not sampled by the policy.`,
  );
  if (rewarded === 0) found.push({ measure: "reward", value: 0, limit: null, message: "No rollout of this step has a reward that counts." });
  const gap = measures?.gap ?? null;
  above(
    "samplerGap",
    gap?.k3,
    0.01,
    () => "Sampler and trainer give the sampled tokens different probabilities: what is trained is not what was sampled.",
  );
  const effective = measures?.correction?.importance?.effectiveSampleSize;
  if (effective !== undefined && effective < 0.5)
    found.push({
      measure: "effectiveSampleSize",
      value: effective,
      limit: 0.5,
      message: `Few rollouts carry the update: the effective sample size is ${percent(effective)}.`,
    });
  above(
    "policyDivergence",
    Math.abs(metrics.policyDivergence ?? 0),
    0.1,
    () => "The policy moves far in one step; lower the rate or the number of updates.",
  );
  above("divergence", metrics.divergence, 1, () => "The policy is far from the model it began as.");
  above(
    "clipFraction",
    metrics.clipFraction,
    0.5,
    (value) => `${percent(value)} of the tokens are clipped; lower the rate or the number of updates.`,
  );
  above("truncated", truncated, 0.25, (value) => `${percent(value)} of the rollouts ended at a limit; give them more room, or look at what they do.`);
  above("flatGroups", flatGroupShare, 0.75, (value) => `${percent(value)} of the groups have rewards that are all equal, and teach nothing.`);
  above("leftOut", planned === 0 ? 0 : 1 - rewarded / planned, 0.5, (value) => `${percent(value)} of the rollouts cannot be learnt from.`);
  return found;
}
