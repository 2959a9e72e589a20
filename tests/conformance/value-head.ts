/** Value head, generalised advantages and the clipped value loss on the weights of another case. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { generalisedAdvantages, matrixLike, valueLoss } from "../../engine/algorithms/index.ts";
import { valueHeadInputs, weightShapes } from "../../engine/models/index.ts";
import type { Runtime } from "../../engine/onnx/index.ts";
import { globalNorm } from "../../engine/optimiser/index.ts";
import { type FloatArray, SequenceModel } from "../../engine/training/index.ts";
import { close, closeRows, closeTensor, first } from "./closeness.ts";
import { ExpectedTensors, loadModel, type ValueCase } from "./model-case.ts";
import { batchOf, gradientTolerance, memory, policyObjective, scoreTolerance } from "./model-training.ts";
import type { Report } from "./report.ts";

export async function checkValueHead(
  report: Report,
  name: string,
  runtime: Runtime,
  directory: string,
  one: ValueCase,
  expected: ExpectedTensors,
): Promise<void> {
  const folder = join(directory, one.weights);
  const { description, weights } = await loadModel(folder, await readFile(join(folder, "config.json"), "utf8"));
  const parameters = new Map<string, Float32Array>([...weightShapes(description).keys()].map((weight) => [weight, weights.values(weight)]));
  for (const input of Object.values(valueHeadInputs)) parameters.set(input, Float32Array.from(expected.numbers(input)));
  const options = { runtime, description, weights: null, adapter: null, parameters, trained: "weights" as const };
  const model = new SequenceModel({ ...options, withEntropy: false, withValues: true, memory });
  const batch = batchOf(expected, one.lens);
  const scores = await model.score(batch);
  const values = scores.values ?? scores.logprobs;
  const mask = expected.matrix("mask");

  await report.run(`${name}/values`, () => closeRows("value", values, expected.matrix("values"), one.lens, scoreTolerance));
  const estimated = generalisedAdvantages(expected.matrix("rewards"), expected.matrix("old_values"), mask, { gamma: one.gamma, lambda: one.lam });
  await report.run(`${name}/advantages`, () => {
    const difference = (label: string, actual: Float64Array, wanted: string) =>
      mask.values.reduce<string | null>((found, trained, index) => {
        if (found !== null || trained !== 1) return found;
        return close(`${label} of token ${index}`, actual[index] ?? Number.NaN, expected.numbers(wanted)[index] ?? Number.NaN, 1e-6);
      }, null);
    return first(
      difference("gae", estimated.raw.values, "gae"),
      difference("return", estimated.returns.values, "returns"),
      difference("advantage", estimated.advantages.values, "advantages"),
    );
  });
  await report.run(`${name}/value loss and gradients`, async () => {
    const loss = valueLoss(values, expected.matrix("old_values"), expected.matrix("returns"), mask, one.value_clip, { mode: "token-mean" });
    const { gradients } = await model.gradients(batch, { byLogprob: matrixLike(mask), byValue: loss.gradient });
    return first(
      close("loss", loss.loss, one.value_loss, 5e-6),
      close("clip fraction", loss.clipFraction, one.value_clip_fraction, 1e-8),
      close("norm", globalNorm(gradients as ReadonlyMap<string, Float32Array>), one.value_grad_norm, gradientTolerance * one.value_grad_norm),
      ...compareGradients("grad.value", gradients, expected),
    );
  });
  await report.run(`${name}/policy gradients`, async () => {
    const source = await ExpectedTensors.read(join(folder, "..", "tensors.safetensors"));
    const { loss, gradient } = policyObjective(one.ppo, scores.logprobs, source, mask, expected.matrix("advantages"));
    const { gradients } = await model.gradients(batch, { byLogprob: gradient });
    const shared = new Map([...gradients].filter(([parameter]) => !parameter.startsWith("score.")));
    return first(close("loss", loss, one.policy_loss_with_kl, 5e-6), ...compareGradients("grad.policy", shared, expected));
  });
  await model.close();
}

function compareGradients(prefix: string, gradients: ReadonlyMap<string, FloatArray>, expected: ExpectedTensors): (string | null)[] {
  return [...gradients].map(([parameter, values]) =>
    closeTensor(`${prefix}.${parameter}`, values, expected.numbers(`${prefix}.${parameter}`), gradientTolerance),
  );
}
