/** The run file: what a person writes to train a policy. Documented in docs/training.md; every default is set here and nowhere else. */
import { resolve } from "node:path";
import { z } from "zod";
import { linearKinds } from "../../engine/models/index.ts";
import { type AlgorithmName, namedAlgorithms } from "../../engine/training/index.ts";
import type { TrainingCheck } from "../api/training-views.ts";
import { absolutePolicy } from "../models/index.ts";
import { readYaml } from "../yaml/index.ts";

const count = z.number().int().positive();
const share = z.number().min(0).max(1);
const names = Object.keys(namedAlgorithms) as [AlgorithmName, ...AlgorithmName[]];

const loraSchema = z.strictObject({
  rank: count.max(512).default(16),
  alpha: z.number().positive().default(32),
  targets: z
    .array(z.enum(linearKinds))
    .min(1)
    .default([...linearKinds]),
  rankStabilised: z.boolean().default(false),
});

/** Tasks made on the spot by the starter generator. */
const generatedSchema = z.strictObject({
  starter: z.strictObject({ count: count.max(5000), seed: z.number().int().nonnegative().default(0) }),
});
/** A folder of one task package, or a folder of such folders. */
const taskSourceSchema = z.union([z.string().min(1), generatedSchema]);
const taskSourcesSchema = z.union([taskSourceSchema.transform((source) => [source]), z.array(taskSourceSchema).min(1)]);

const harnessSchema = z.union([
  z
    .string()
    .min(1)
    .transform((id) => ({ id, weight: 1 })),
  z.strictObject({ id: z.string().min(1), weight: z.number().positive().default(1) }),
]);

const rateFields = {
  /** Peak of the learning rate. */
  rate: z.number().positive(),
  schedule: z.enum(["constant", "linear", "cosine"]).default("constant"),
  /** Updates of linear warm-up. */
  warmUp: z.number().int().nonnegative().default(0),
  /** Rate at the end as a share of the peak. */
  floor: share.default(0),
};

const teacherSchema = z
  .strictObject({
    /** Any policy: it answers k rollouts a task. */
    policy: z.string().min(1).optional(),
    perTask: count.max(64).default(3),
    /** Recorded experiments or training runs, by id. */
    experiments: z.array(z.string().min(1)).min(1).optional(),
    /** Tokens that the teacher may write and read at most, over all its rollouts. */
    spendingLimit: count.optional(),
  })
  .refine((teacher) => (teacher.policy === undefined) !== (teacher.experiments === undefined), {
    message: "names either a `policy` or `experiments`",
  });

const sftStageSchema = z.strictObject({
  kind: z.literal("sft"),
  teacher: teacherSchema,
  /** successes: reward = the task's maximum. all: every trainable rollout with a reward. */
  keep: z.enum(["successes", "all"]).default("successes"),
  passes: count.default(1),
  /** Rollouts an update. */
  batch: count.default(32),
  ...rateFields,
});

/** Fields of an algorithm that a run may set otherwise; checked again by the engine's own types when put together. */
const overridesSchema = z
  .strictObject({
    clip: z.strictObject({ low: z.number().positive(), high: z.number().positive() }),
    aggregation: z.enum(["token-mean", "token-sum", "seq-mean-token-sum", "seq-mean-token-sum-norm", "seq-mean-token-mean", "per-rollout-mean"]),
    divideByDeviation: z.boolean(),
    /** Coefficient of the divergence from the base; 0 = none, and no reference is computed. */
    divergence: z.number().nonnegative(),
    /** The coefficient follows this divergence; only where it is part of the reward. */
    divergenceTarget: z.strictObject({ target: z.number().positive(), horizon: z.number().positive() }),
    entropy: z.number(),
    /** Truncation of importance weights where sampler and trainer differ; 0 = no correction. */
    importance: z.number().nonnegative(),
    overlong: z.strictObject({ limit: count, buffer: count, factor: z.number().positive() }),
    gamma: share,
    lambda: share,
  })
  .partial();

const collectionSchema = z.strictObject({
  /** one-step-asynchronous: a step's rollouts are sampled while the step before is trained. */
  mode: z.enum(["synchronous", "one-step-asynchronous"]).default("synchronous"),
  /** Versions that a rollout may be behind the weights it trains. */
  stalenessLimit: z.number().int().nonnegative().default(1),
  /** Beyond the limit: weighted by the algorithm's correction as any other, or left out. */
  stale: z.enum(["correct", "drop"]).default("drop"),
  /** Rollouts started a group beyond its size; when enough are usable the stragglers are cancelled. */
  extra: z.number().int().nonnegative().max(64).default(0),
  /** Usable rollouts without which a step is not trained, as a share of those planned. */
  minimumUsable: share.default(0.25),
});

const rlStageSchema = z.strictObject({
  kind: z.literal("rl"),
  algorithm: z.enum(names).default("grpo"),
  overrides: overridesSchema.default({}),
  steps: count,
  /** Groups of a step. */
  tasks: count,
  group: count.default(8),
  /** Passes over a step's rollouts. */
  updates: count.max(64).default(1),
  ...rateFields,
  collection: collectionSchema.prefault({}),
  /** Groups whose rewards are all equal. refill: other tasks are tried for them, `refills` times at most, then dropped. */
  flatGroups: z.enum(["keep", "drop", "refill"]).optional(),
  refills: count.max(10).default(2),
});

const evaluationSchema = z.strictObject({
  /** Updates between evaluations; left out = only before and after. */
  every: count.optional(),
  before: z.boolean().default(true),
  after: z.boolean().default(true),
  /** Rollouts a task and harness. */
  samples: count.max(64).default(1),
  /** Left out = those of the training. */
  harnesses: z.array(z.string().min(1)).min(1).optional(),
  /** k of pass@k and pass^k; those above `samples` are left out. */
  passes: z.array(count).min(1).default([1, 2, 4, 8]),
  /** Left out = the run's. */
  temperature: z.number().nonnegative().max(5).optional(),
});

const controlsSchema = z
  .strictObject({
    /** Rewards of a step are dealt out anew among its rollouts. */
    shuffleRewards: z.boolean(),
    /** Good becomes bad. */
    flipAdvantages: z.boolean(),
    /** What the policy sampled is not trained, what it read is. */
    invertMask: z.boolean(),
    /** Share of training rollouts that are taken for lost, as if their sandbox had gone. */
    failures: share,
  })
  .partial();

const runFileSchema = z.strictObject({
  name: z.string().min(1).max(80),
  seed: z
    .number()
    .int()
    .nonnegative()
    .max(2 ** 31 - 1)
    .default(1),
  /** Folder of a model (Hugging Face layout), the name of an imported one, or `starter`. */
  base: z.string().min(1),
  /** All weights, or an adapter. */
  train: z.union([z.literal("weights"), loraSchema]).default(loraSchema.parse({})),
  sampler: z.union([z.literal("embedded"), z.strictObject({ vllm: z.string().min(1) })]).default("embedded"),
  /** That answers are drawn at, whatever a harness asks for: what is trained is the distribution that was drawn from. */
  temperature: z.number().positive().max(5).default(1),
  tasks: z.strictObject({ train: taskSourcesSchema, heldOut: taskSourcesSchema.optional() }),
  harnesses: z
    .array(harnessSchema)
    .min(1)
    .default([{ id: "react", weight: 1 }]),
  sandbox: z.enum(["local", "docker", "kubernetes"]).default("local"),
  /** Rollouts at once. */
  concurrency: count.max(256).default(16),
  optimiser: z
    .strictObject({
      /** Gradients are scaled down to this norm. */
      clipNorm: z.number().positive().default(1),
      /** A norm beyond this stops the run. */
      stopNorm: z.number().positive().default(1e4),
      beta1: share.default(0.9),
      beta2: share.default(0.99),
      weightDecay: z.number().nonnegative().default(0),
    })
    .prefault({}),
  /** Tries of a rollout whose infrastructure failed. */
  attempts: count.max(10).default(2),
  /** What is trained of rollouts that ended badly. */
  outcomes: z.enum(["default", "paper"]).default("default"),
  limits: z
    .strictObject({
      /** Tokens of prompt and answer together. */
      contextWindow: count.default(4096),
      /** Tokens of one answer. */
      answerTokens: count.optional(),
      /** Tokens of a sequence that is trained; longer ones are left out and counted. Left out = the context window. */
      sequenceTokens: count.optional(),
      /** Positions computed at once. */
      batchTokens: count.default(4096),
      /** Overrides the tasks' budgets; time spent waiting for the policy does not count. */
      agentSeconds: z.number().positive().optional(),
      /** Bytes that training may take. */
      memoryBytes: count.default(4 * 1024 ** 3),
      /** Answers sampled at the same time. */
      lanes: count.max(256).optional(),
      /** Threads of the trainer. */
      threads: count.optional(),
    })
    .prefault({}),
  stages: z.array(z.discriminatedUnion("kind", [sftStageSchema, rlStageSchema])).min(1),
  evaluation: evaluationSchema.prefault({}),
  checkpoints: z.strictObject({ every: count.default(1), keep: count.default(2) }).prefault({}),
  /** Repeats to the bit on one machine, also after it was killed; collection is synchronous and nobody is waited for less. */
  deterministic: z.boolean().default(false),
  /** For controlled studies only: each spoils the training in one way. */
  controls: controlsSchema.default({}),
});

export type RunSettings = z.output<typeof runFileSchema>;
export type SftStage = z.output<typeof sftStageSchema>;
export type RlStage = z.output<typeof rlStageSchema>;
export type TaskSource = z.output<typeof taskSourceSchema>;
export type Controls = z.output<typeof controlsSchema>;

type Fault = TrainingCheck["faults"][number];
export type RunFileReading = { readonly ok: true; readonly settings: RunSettings } | { readonly ok: false; readonly faults: readonly Fault[] };

/** Faults come with their lines. Paths become absolute, meant from `folder`. */
export function readRunFile(yaml: string, folder: string): RunFileReading {
  const reading = readYaml(yaml, runFileSchema, { subject: "The run file", example: "name: my-run" });
  if (!reading.ok) return reading;
  const faults = contradictions(reading.value).map(({ key, message }) => ({ line: lineOfKey(yaml, key), message }));
  return faults.length > 0 ? { ok: false, faults } : { ok: true, settings: fromFolder(reading.value, folder) };
}

/** Algorithms under which a rollout without others of its group teaches nothing. */
const comparesGroups: ReadonlySet<AlgorithmName> = new Set(
  names.filter((name) => ["group", "leave-one-out", "length-weighted", "whitened-group"].includes(namedAlgorithms[name].advantage.kind)),
);

/** Settings that are each right and not right together. */
function contradictions(settings: RunSettings): readonly { readonly key: string; readonly message: string }[] {
  const found: { key: string; message: string }[] = [];
  const rl = settings.stages.filter((stage) => stage.kind === "rl");
  if (settings.deterministic && rl.some(({ collection }) => collection.mode !== "synchronous"))
    found.push({ key: "deterministic", message: "A deterministic run collects synchronously; set `collection.mode: synchronous`." });
  if (settings.deterministic && rl.some(({ collection }) => collection.extra > 0))
    found.push({ key: "deterministic", message: "A deterministic run waits for every rollout; leave `collection.extra` out." });
  if (settings.limits.sequenceTokens !== undefined && settings.limits.sequenceTokens < 2)
    found.push({ key: "sequenceTokens", message: "`limits.sequenceTokens` must be at least 2." });
  for (const { algorithm, group } of rl)
    if (group < 2 && comparesGroups.has(algorithm))
      found.push({ key: "group", message: `\`group\` must be at least 2: ${algorithm} compares the rollouts of a group.` });
  if (settings.evaluation.every !== undefined && settings.tasks.heldOut === undefined)
    found.push({ key: "evaluation", message: "Nothing is evaluated without tasks that are held out; name some in `tasks.heldOut`." });
  const ids = settings.harnesses.map(({ id }) => id);
  if (new Set(ids).size < ids.length) found.push({ key: "harnesses", message: "A harness is named twice in `harnesses`; give it one weight." });
  if (typeof settings.sampler === "object" && settings.train === "weights")
    found.push({ key: "sampler", message: "A vLLM server takes adapters only; set `train` to the settings of an adapter." });
  return found;
}

/** First line that sets a key of that name; 1 when none does. */
export function lineOfKey(yaml: string, key: string): number {
  const at = yaml.split("\n").findIndex((line) => new RegExp(`^\\s*(- )?${key}\\s*:`).test(line));
  return at < 0 ? 1 : at + 1;
}

function fromFolder(settings: RunSettings, folder: string): RunSettings {
  const source = (given: TaskSource): TaskSource => (typeof given === "string" && given !== "starter" ? resolve(folder, given) : given);
  const { train, heldOut } = settings.tasks;
  const stage = (given: RlStage | SftStage): RlStage | SftStage => {
    if (given.kind !== "sft" || given.teacher.policy === undefined) return given;
    return { ...given, teacher: { ...given.teacher, policy: absolutePolicy(given.teacher.policy, folder) } };
  };
  return {
    ...settings,
    stages: settings.stages.map(stage),
    base: /[\\/]/.test(settings.base) && !settings.base.includes(":") ? resolve(folder, settings.base) : settings.base,
    tasks: { train: train.map(source), ...(heldOut === undefined ? {} : { heldOut: heldOut.map(source) }) },
  };
}
