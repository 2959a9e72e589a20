/** Losses, gradients and optimiser curves of a model case, with LoRA or all weights trained. */
import {
  aggregate,
  aggregationWeights,
  clippedPolicyLoss,
  divergence,
  type Matrix,
  mapMasked,
  maskedMean,
  type PolicyLoss,
} from "../../engine/algorithms/index.ts";
import { type Adapter, loraInput, weightShapes } from "../../engine/models/index.ts";
import type { Runtime } from "../../engine/onnx/index.ts";
import { AdamW, clipFactor, globalNorm } from "../../engine/optimiser/index.ts";
import { packIntoRows, placeInRows, type SequenceBatch, SequenceModel, type SequenceModelOptions } from "../../engine/training/index.ts";
import { close, closeRows, closeTensor, first } from "./closeness.ts";
import type { ExpectedTensors, LoadedModel, ModelCase, OptimiserCase, PolicySettings, TrainingCase } from "./model-case.ts";
import type { Report } from "./report.ts";

const lossTolerance = 5e-6;
export const gradientTolerance = 2e-5;
export const scoreTolerance = 2e-5;

/** Chunks smaller than the cases, so that they are joined. */
export const memory = { attentionChunk: 16, headChunk: 32, keepProbabilities: true, checkpointLayers: false, narrowWeights: false };

export function batchOf(expected: ExpectedTensors, lengths: readonly number[]): SequenceBatch {
  const sequences = expected.sequences(lengths);
  return { sequences, placement: placeInRows(lengths, { rows: lengths.length, width: Math.max(...lengths) - 1 }) };
}

/** Clipped policy loss plus the k3 divergence, token-mean. */
export function policyObjective(
  settings: PolicySettings,
  logprobs: Matrix,
  expected: ExpectedTensors,
  mask: Matrix,
  advantages: Matrix,
): { loss: number; gradient: Matrix; policy: PolicyLoss; divergence: number } {
  const aggregation = { mode: "token-mean" as const };
  const old = expected.matrix("old_logprobs");
  const reference = expected.matrix("ref_logprobs").values;
  const policy = clippedPolicyLoss(
    { logprobs, old, advantages, mask },
    { low: settings.clip_low, high: settings.clip_high, dual: settings.dual_clip },
    aggregation,
  );
  const share = aggregationWeights(mask, aggregation);
  const ofToken = (index: number) => divergence("k3", logprobs.values[index] ?? 0, reference[index] ?? 0);
  const losses = mapMasked(mask, (index) => ofToken(index).value);
  const gradient = mapMasked(
    mask,
    (index) => (policy.gradient.values[index] ?? 0) + settings.kl_coef * ofToken(index).gradient * (share.values[index] ?? 0),
  );
  return {
    loss: policy.loss + settings.kl_coef * aggregate(losses, mask, share),
    gradient,
    policy,
    divergence: maskedMean(mask, (index) => ofToken(index).value),
  };
}

type LossName = "sft" | "ppo";

/** Loss and its derivative by each log-probability, from the scores of the current parameters. */
function lossOf(one: ModelCase, expected: ExpectedTensors, name: LossName, logprobs: Matrix): { loss: number; gradient: Matrix } {
  const mask = expected.matrix("mask");
  if (name === "ppo") {
    const perRow = expected.numbers("advantages");
    const advantages = mapMasked(mask, (index) => perRow[Math.floor(index / mask.width)] ?? 0);
    return policyObjective(one.ppo, logprobs, expected, mask, advantages);
  }
  const share = aggregationWeights(mask, { mode: "token-mean" });
  return { loss: -aggregate(logprobs, mask, share), gradient: mapMasked(mask, (index) => -(share.values[index] ?? 0)) };
}

interface Trainee {
  readonly kind: "full" | "lora";
  readonly model: SequenceModel;
  readonly parameters: ReadonlyMap<string, Float32Array>;
  /** Name of a trained parameter in the fixture. */
  readonly fixtureName: (parameter: string) => string;
}

function trainee(
  runtime: Runtime,
  { description, weights, weightsFolder }: LoadedModel,
  adapter: Adapter | null,
  options: Partial<SequenceModelOptions> = {},
): Trainee {
  const parameters = new Map<string, Float32Array>();
  for (const [module, { a, b }] of adapter ?? []) parameters.set(loraInput.a(module), a.slice()).set(loraInput.b(module), b.slice());
  if (adapter === null) for (const name of weightShapes(description).keys()) parameters.set(name, weights.values(name).slice());
  const model = new SequenceModel({
    ...{ runtime, description, adapter, parameters, withEntropy: true, withValues: false, memory },
    ...options,
    weights: adapter === null ? null : weights,
    ...(weightsFolder === undefined ? {} : { weightsFolder }),
    trained: adapter === null ? "weights" : "adapter",
  });
  const fixtureName = (parameter: string) => (adapter === null ? parameter : `base_model.model.${parameter}.weight`);
  return { kind: adapter === null ? "full" : "lora", model, parameters, fixtureName };
}

export async function checkTraining(
  report: Report,
  name: string,
  runtime: Runtime,
  loaded: LoadedModel,
  one: ModelCase,
  expected: ExpectedTensors,
  adapter: Adapter | null,
): Promise<void> {
  const fresh = trainee(runtime, loaded, adapter);
  const { kind } = fresh;
  const batch = batchOf(expected, one.lens);
  const scores = await fresh.model.score(batch);
  if (kind === "lora")
    await report.run(`${name}/lora.logprobs`, () =>
      closeRows("log-probability", scores.logprobs, expected.matrix("lora.logprobs"), one.lens, scoreTolerance),
    );
  else {
    await report.run(`${name}/logprobs and entropy`, () =>
      first(
        closeRows("log-probability", scores.logprobs, expected.matrix("logprobs"), one.lens, scoreTolerance),
        closeRows("entropy", scores.entropy ?? scores.logprobs, expected.matrix("entropy"), one.lens, scoreTolerance),
      ),
    );
  }
  for (const loss of ["sft", "ppo"] as const) {
    await report.run(`${name}/${kind}.${loss} gradients`, () => gradientDifference(fresh, batch, one, expected, loss));
  }
  await report.run(`${name}/${kind} policy metrics`, () => metricDifference(one, expected, one[kind], scores.logprobs));
  await report.run(`${name}/${kind} gradients, memory spared`, () => sparingDifference(runtime, loaded, adapter, batch, one, expected));
  await report.run(`${name}/${kind} AdamW`, () => curveDifference(fresh, batch, one, expected, one[kind].adamw));
  await fresh.model.close();
}

async function gradientDifference(
  one: Trainee,
  batch: SequenceBatch,
  settings: ModelCase,
  expected: ExpectedTensors,
  name: LossName,
): Promise<string | null> {
  const { logprobs } = await one.model.score(batch);
  const { loss, gradient } = lossOf(settings, expected, name, logprobs);
  const { gradients } = await one.model.gradients(batch, { byLogprob: gradient });
  const tensors = [...gradients].map(([parameter, values]) => {
    const stored = `grad.${one.kind}.${name}.${one.fixtureName(parameter)}`;
    return closeTensor(stored, values, expected.numbers(stored), gradientTolerance);
  });
  const wanted = expected.names.filter((tensor) => tensor.startsWith(`grad.${one.kind}.${name}.`)).length;
  const { [`${name}_loss` as const]: wantedLoss, [`${name}_grad_norm` as const]: wantedNorm } = settings[one.kind];
  const norm = globalNorm(gradients as ReadonlyMap<string, Float32Array>);
  return first(
    close("loss", loss, wantedLoss, lossTolerance),
    close("norm of all gradients", norm, wantedNorm, gradientTolerance * wantedNorm),
    ...tensors,
    wanted === gradients.size ? null : `${gradients.size} gradients, expected ${wanted}`,
  );
}

/** The same gradients with every way to spare memory, and the sequences packed into one row. */
async function sparingDifference(
  runtime: Runtime,
  loaded: LoadedModel,
  adapter: Adapter | null,
  batch: SequenceBatch,
  one: ModelCase,
  expected: ExpectedTensors,
): Promise<string | null> {
  const memory = { attentionChunk: 24, headChunk: 17, keepProbabilities: false, checkpointLayers: true, narrowWeights: true };
  const sparing = trainee(runtime, loaded, adapter, { memory });
  const lengths = batch.sequences.map((sequence) => sequence.length);
  const room = lengths.reduce((sum, length) => sum + length - 1, 0);
  const packed = { ...batch, placement: packIntoRows(lengths, { rows: 1, width: room }) };
  const difference = await gradientDifference(sparing, packed, one, expected, "ppo");
  await sparing.model.close();
  return difference;
}

function metricDifference(one: ModelCase, expected: ExpectedTensors, wanted: TrainingCase, logprobs: Matrix): string | null {
  const mask = expected.matrix("mask");
  const perRow = expected.numbers("advantages");
  const advantages = mapMasked(mask, (index) => perRow[Math.floor(index / mask.width)] ?? 0);
  const { policy, divergence: mean } = policyObjective(one.ppo, logprobs, expected, mask, advantages);
  const { policy_loss, kl, clip_fraction, lower_clip_fraction, ppo_kl } = wanted.ppo_metrics;
  return first(
    close("policy_loss", policy.loss, policy_loss, lossTolerance),
    close("kl", mean, kl, lossTolerance),
    close("clip_fraction", policy.metrics.clipFraction, clip_fraction, 1e-8),
    close("lower_clip_fraction", policy.metrics.lowerClipFraction, lower_clip_fraction, 1e-8),
    close("ppo_kl", policy.metrics.divergence, ppo_kl, lossTolerance),
  );
}

async function curveDifference(
  one: Trainee,
  batch: SequenceBatch,
  settings: ModelCase,
  expected: ExpectedTensors,
  adamw: OptimiserCase,
): Promise<string | null> {
  const [beta1, beta2] = adamw.betas;
  const before = new Map([...one.parameters].map(([parameter, values]) => [parameter, values.slice()]));
  const optimiser = new AdamW(one.parameters, { beta1, beta2, epsilon: adamw.eps, weightDecay: adamw.weight_decay });
  for (const [step, rate] of adamw.lr.entries()) {
    const { logprobs } = await one.model.score(batch);
    const { loss, gradient } = lossOf(settings, expected, adamw.loss, logprobs);
    const gradients = (await one.model.gradients(batch, { byLogprob: gradient })).gradients as ReadonlyMap<string, Float32Array>;
    const norm = globalNorm(gradients);
    const [wantedLoss = Number.NaN, wantedNorm = Number.NaN] = adamw.curve[step] ?? [];
    const difference = first(
      close(`loss before step ${step}`, loss, wantedLoss, 2e-5),
      close(`gradient norm of step ${step}`, norm, wantedNorm, 2e-4 * wantedNorm),
    );
    if (difference !== null) return difference;
    optimiser.update(gradients, rate, clipFactor(norm, adamw.clip_grad_norm));
  }
  const { logprobs } = await one.model.score(batch);
  const after = expected.matrix(`after.${one.kind}.logprobs`);
  const stored =
    one.kind === "full"
      ? []
      : [...one.parameters].map(([parameter, values]) => ({
          name: `after.lora.${one.fixtureName(parameter)}`,
          values,
          before: before.get(parameter),
        }));
  // Weight decay alone changes every parameter: tensors that equal those before training were saved by mistake and are no reference.
  const moved = stored.some(({ name, before: start }) => expected.numbers(name).some((value, index) => value !== start?.[index]));
  const tensors = moved ? stored.map(({ name, values }) => closeTensor(name, values, expected.numbers(name), 2e-4)) : [];
  return first(closeRows("log-probability after training", logprobs, after, settings.lens, one.kind === "full" ? 5e-4 : 1e-4), ...tensors);
}
