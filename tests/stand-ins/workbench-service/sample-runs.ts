/** Invented training runs: two configurations with three seeds each, running, paused, ended, failed, with warnings and a spike. Deterministic. */
import type { EvaluationView, TrainingRunView, TrainingStepDetail, TrainingStepView } from "../../../main/api/training-views.ts";
import { now, randomFrom } from "./sample-experiments.ts";

const plannedSteps = 200;
const families = ["calc", "copy", "find", "list", "write"];
const tasks = [
  "sqlite-wal-recover",
  "nginx-vhost-redirect",
  "ledger-balance",
  "git-bisect-flaky",
  "tz-offset-report",
  "pytest-collect-hook",
  "merge-changelog",
  "path-glob-escape",
  "cron-window-shift",
  "csv-dedupe-stable",
  "log-rotate-window",
  "utf16-header-fix",
  "patch-order-swap",
  "tar-strip-level",
  "json-merge-keys",
  "env-file-quote",
];

const runFile = (name: string, algorithm: string): string => `name: ${name}
seed: 1
base: starter
tasks:
  train: { starter: { count: 400, seed: 1 } }
  heldOut: { starter: { count: 60, seed: 2 } }
harnesses: [react]
stages:
  - kind: rl
    algorithm: ${algorithm}
    steps: ${plannedSteps}
    tasks: 16
    group: 8
    rate: 0.0003
evaluation: { every: 20 }
`;

export interface Shape {
  readonly id: string;
  readonly configuration: string;
  readonly algorithm: string;
  readonly seed: number;
  readonly made: number;
  readonly status: TrainingRunView["status"];
  /** Success it ends at. */
  readonly reach: number;
  readonly problem?: TrainingRunView["problem"];
  readonly name?: string;
  /** Step at which the loss jumps. */
  readonly spike?: number;
}

export const shapes: readonly Shape[] = [
  { id: "t-7a11", configuration: "c-grpo", algorithm: "grpo", seed: 1, made: 129, status: "running", reach: 0.62 },
  { id: "t-7a12", configuration: "c-grpo", algorithm: "grpo", seed: 2, made: 129, status: "running", reach: 0.64, spike: 96 },
  { id: "t-7a13", configuration: "c-grpo", algorithm: "grpo", seed: 3, made: 121, status: "paused", reach: 0.59 },
  { id: "t-6b01", configuration: "c-plain", algorithm: "dr-grpo", seed: 1, made: 200, status: "ended", reach: 0.57 },
  { id: "t-6b02", configuration: "c-plain", algorithm: "dr-grpo", seed: 2, made: 200, status: "ended", reach: 0.6 },
  { id: "t-6b03", configuration: "c-plain", algorithm: "dr-grpo", seed: 3, made: 200, status: "ended", reach: 0.56 },
  {
    id: "t-5c01",
    configuration: "c-ppo",
    algorithm: "ppo",
    seed: 1,
    made: 44,
    status: "failed",
    reach: 0.4,
    name: "ppo two updates",
    problem: { message: "Step 45: the loss is not a finite number.", remedy: "Lower the rate, or resume from the checkpoint of step 40." },
  },
];

export const round = (value: number, digits = 4): number => Number(value.toFixed(digits));
const estimate = (mean: number, half: number, n: number) => ({
  n,
  mean: round(mean),
  low: round(Math.max(0, mean - half)),
  high: round(Math.min(1, mean + half)),
});

const learned = (step: number, reach: number): number => 0.33 + (reach - 0.33) * (1 - Math.exp(-step / 28));

function pointOf(shape: Shape, step: number, random: () => number): TrainingStepView {
  const noise = (size: number): number => (random() - 0.5) * 2 * size;
  const reward = learned(step, shape.reach) + noise(0.05);
  const spike = shape.spike === undefined ? 0 : Math.exp(-((step - shape.spike) ** 2) / 1.5) * 0.062;
  const flat = round(Math.min(0.8, 0.18 + step / 480 + noise(0.04)));
  const health: TrainingStepView["health"] =
    flat > 0.4
      ? [
          {
            measure: "flatGroups",
            value: flat,
            limit: 0.4,
            message: `${Math.round(flat * 100)} % of the groups have rewards that are all equal, and teach nothing.`,
          },
        ]
      : [];
  if (step === shape.spike)
    health.push({
      measure: "mask",
      value: 0.02,
      limit: 0,
      message: "The mask is shifted: 3 chains train one token that the policy did not sample. They carry 71 % of the loss.",
    });
  return {
    step,
    stage: "rl",
    at: now - (plannedSteps - step) * 380_000,
    policyVersion: `${shape.id}@${step}`,
    seconds: { total: 380, sampling: 240, sandbox: 190, training: 96, evaluation: 12, idle: 9, engine: 325 },
    rollouts: 128,
    used: 121,
    left: { "masked: environment-failure": 3, "cancelled: enough others were usable": 4 },
    reward: estimate(reward, 0.08, 128),
    completionTokens: Math.round(2140 - 360 * Math.exp(-step / 30) + noise(60)),
    tokens: 9200,
    truncated: round(Math.max(0, 0.02 + noise(0.015))),
    flatGroupShare: flat,
    loss: round(-0.008 + noise(0.006) + spike, 5),
    gradientNorm: round(0.9 + noise(0.3) + spike * 90, 3),
    rate: 0.0003,
    updates: 1,
    trainedTokens: 26_000 + Math.round(noise(2000)),
    uniqueTokens: 98_000,
    staleness: 1,
    memoryBytes: 38_200_000_000 + Math.round(noise(400_000_000)),
    metrics: {
      clipFraction: round(0.02 + Math.abs(noise(0.01)) + spike * 2.6),
      policyDivergence: round(0.002 + noise(0.001), 5),
      divergence: round(0.0004 * step * (shape.configuration === "c-grpo" ? 0.6 : 0.28) + Math.abs(noise(0.002)), 5),
      samplerGapK3: round(0.0011 + Math.abs(noise(0.0004)), 6),
      effectiveSampleSize: round(0.94 + noise(0.03)),
    },
    health,
    checkpoint: step % 20 === 0,
  };
}

function evaluationOf(shape: Shape, step: number, random: () => number): EvaluationView {
  const success = learned(step, shape.reach) + (random() - 0.5) * 0.04;
  const share = (mean: number, n: number) => estimate(Math.max(0.02, Math.min(0.98, mean)), 1.5 / Math.sqrt(n) / 3, n);
  const gained = (success - 0.33) / 0.3;
  return {
    step,
    policyVersion: `${shape.id}@${step}`,
    at: now - (plannedSteps - step) * 380_000,
    samples: 2,
    success: share(success, 120),
    passes: { "pass@2": share(success + 0.1, 60), "pass^2": share(success - 0.12, 60) },
    families: Object.fromEntries(families.map((family, index) => [family, share(success - 0.16 + index * 0.08, 24)])),
    harnesses: { react: share(success, 40), "react-notes": share(success - 0.07, 40), "react-terse": share(success - 0.13, 40) },
    behaviour: {
      success: share(success, 120),
      calls: { n: 120, mean: round(4.1 - gained * 1.2), low: null, high: null },
      completionTokens: { n: 120, mean: round(38 - gained * 9), low: null, high: null },
      seconds: { n: 120, mean: round(2.4 - gained * 0.6), low: null, high: null },
      selfVerified: share(0.22 + gained * 0.3, 96),
      errorRecovery: share(0.31 + gained * 0.24, 44),
      redundantRepeats: share(0.18 - gained * 0.12, 120),
      falseDone: share(0.4 - gained * 0.2, 70),
    },
    budget: { rollouts: 120, calls: 420, promptTokens: 61_000, completionTokens: 4200, seconds: 41 },
    missing: { "environment-failure": 2 },
  };
}

export function runOf(shape: Shape): TrainingRunView {
  const random = randomFrom(shape.seed * 31 + shape.configuration.length * 7);
  const points = Array.from({ length: shape.made }, (_, index) => pointOf(shape, index + 1, random));
  const evaluations = Array.from({ length: Math.floor(shape.made / 20) + 1 }, (_, index) => evaluationOf(shape, index * 20, random));
  const [first] = evaluations;
  const last = evaluations.at(-1);
  const gain = (last?.success.mean ?? 0) - (first?.success.mean ?? 0);
  return {
    id: shape.id,
    name: shape.name ?? "sweep07",
    configuration: shape.configuration,
    seed: shape.seed,
    createdAt: now - 60_000_000 - shapes.indexOf(shape) * 1000,
    endedAt: shape.status === "ended" || shape.status === "failed" ? now - 1_000_000 : null,
    status: shape.status,
    problem: shape.problem ?? null,
    activity: shape.status === "running" ? "collecting 37 of 128" : "",
    file: runFile(shape.name ?? "sweep07", shape.algorithm),
    algorithm: shape.algorithm,
    base: "embedded:/opt/openforge/resources/policies/starter",
    backend: "embedded",
    harnesses: shape.configuration === "c-plain" ? ["react", "react-terse"] : ["react"],
    step: shape.made,
    steps: plannedSteps,
    secondsPerStep: 380,
    memory: { bytes: 42_000_000_000, plan: "weights 8.1 GB, optimiser 16.2 GB, activations 12 GB in two chunks" },
    experiment: shape.status === "running" ? "e-1" : null,
    points,
    evaluations,
    gain: { ...estimate(gain, 0.09, 60), low: round(gain - 0.09), high: round(gain + 0.08), paired: true, better: 24, worse: 5, equal: 31 },
    seconds: {
      total: 380 * shape.made,
      sampling: 240 * shape.made,
      sandbox: 190 * shape.made,
      training: 96 * shape.made,
      evaluation: 12 * shape.made,
      idle: 9 * shape.made,
      engine: 325 * shape.made,
    },
  };
}

export function detailOf(run: TrainingRunView, step: number): TrainingStepDetail | null {
  const point = run.points.find((each) => each.step === step);
  if (point === undefined) return null;
  const random = randomFrom(step * 17 + run.seed);
  const weights = tasks.map((_, group) => (group >= 12 ? 0 : 0.45 * 0.6 ** group));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return {
    point,
    rollouts: tasks.flatMap((task, group) => {
      const rewards = Array.from({ length: 8 }, () => (group >= 12 ? Number(group !== 15) : Number(random() < 0.45)));
      const mean = rewards.reduce((sum, reward) => sum + reward, 0) / 8;
      const spread = Math.sqrt(rewards.reduce((sum, reward) => sum + (reward - mean) ** 2, 0) / 7);
      return rewards.map((reward, index) => {
        const lost = group === 5 && index === 6;
        return {
          rollout: `r-${(0x70000000 + step * 0x1000 + group * 8 + index).toString(16)}`,
          task,
          harness: "react",
          group: `${step}.0.${group}`,
          policyVersion: point.policyVersion,
          reward: lost ? null : reward,
          advantage: lost || spread === 0 ? null : round((reward - mean) / (spread + 1e-6)),
          trainedTokens: lost ? 0 : 180 + Math.round(random() * 90),
          lossShare: lost || spread === 0 ? null : (weights[group] ?? 0) / total / 8,
          leftOut: lost ? "masked: environment-failure" : null,
        };
      });
    }),
  };
}
