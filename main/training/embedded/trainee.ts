/** The model that a trainer process trains: its parameters, its sessions, its frozen reference. */
import { type Adapter, createAdapter, loraInput, type ModelDescription, valueHeadInputs, weightShapes } from "../../../engine/models/index.ts";
import type { Runtime } from "../../../engine/onnx/index.ts";
import type { NamedArrays } from "../../../engine/optimiser/index.ts";
import { choosePlan, largestBatch, type MemoryEstimate, OpenSessions, SequenceModel, type TrainingSize } from "../../../engine/training/index.ts";
import { WorkbenchError } from "../../errors.ts";
import type { ModelFolder } from "../../models/index.ts";
import type { TrainerSettings } from "./protocol.ts";

export interface Trainee {
  readonly model: SequenceModel;
  /** The weights as they lie in the model folder, for divergence from the reference. */
  readonly reference: SequenceModel;
  readonly parameters: NamedArrays;
  readonly estimate: MemoryEstimate;
  readonly plan: string;
  /** The adapter at its present values; null when all weights are trained. */
  adapter(): Adapter | null;
}

/** Throws WorkbenchError when not even the most frugal way fits the budget. */
export function createTrainee(runtime: Runtime, folder: ModelFolder, settings: TrainerSettings): Trainee {
  const { description, weights, weightsFolder } = folder;
  const fresh = settings.lora === null ? null : createAdapter(description, settings.lora, settings.seed);
  const trained = fresh === null ? "weights" : "adapter";
  const chosen = planMemory(description, fresh, settings);
  const parameters = firstParameters(folder, fresh, settings);
  const { total, activations, head } = chosen.estimate;
  const sessions = new OpenSessions(settings.memoryBudget - (total - activations - head));
  const shared = { runtime, description, weightsFolder, memory: chosen.plan, sessions, withValues: false };
  return {
    model: new SequenceModel({
      ...shared,
      ...{ parameters, trained, adapter: fresh, weights: fresh === null ? null : weights },
      ...{ withEntropy: settings.withEntropy, withValues: settings.valueHead },
    }),
    reference: new SequenceModel({ ...shared, weights, adapter: null, parameters: new Map(), trained: "adapter", withEntropy: false }),
    parameters,
    estimate: chosen.estimate,
    plan: chosen.words,
    adapter: () => (fresh === null ? null : presentAdapter(fresh, parameters)),
  };
}

/** Throws WorkbenchError when not even the most frugal way fits the budget. */
export function planMemory(description: ModelDescription, adapter: Adapter | null, settings: Pick<TrainerSettings, "limits" | "memoryBudget">) {
  const trained = adapter === null ? "weights" : "adapter";
  const size: TrainingSize = { description, adapter, trained, weightBytes: 4, ...largestBatch(settings.limits) };
  const chosen = choosePlan(size, settings.memoryBudget);
  if (chosen === null) throw doesNotFit(settings);
  return { ...chosen, words: inWords(chosen.plan) };
}

function firstParameters({ description, weights }: ModelFolder, adapter: Adapter | null, { valueHead }: TrainerSettings): Map<string, Float32Array> {
  const parameters = new Map<string, Float32Array>();
  for (const [module, { a, b }] of adapter ?? []) parameters.set(loraInput.a(module), a.slice()).set(loraInput.b(module), b.slice());
  if (adapter === null) for (const name of weightShapes(description).keys()) parameters.set(name, weights.values(name));
  // A head that says 0 everywhere: advantages begin as the rewards themselves.
  if (valueHead) {
    parameters.set(valueHeadInputs.weight, new Float32Array(description.config.hiddenSize));
    parameters.set(valueHeadInputs.bias, new Float32Array(1));
  }
  return parameters;
}

function presentAdapter(shape: Adapter, parameters: NamedArrays): Adapter {
  return new Map(
    [...shape].map(([module, { rank, factor }]) => {
      const [a, b] = [parameters.get(loraInput.a(module)), parameters.get(loraInput.b(module))];
      if (a === undefined || b === undefined) throw new RangeError(`the adapter of ${module} is missing`);
      return [module, { rank, factor, a, b }];
    }),
  );
}

function doesNotFit({ memoryBudget, limits }: Pick<TrainerSettings, "limits" | "memoryBudget">): WorkbenchError {
  const megabytes = Math.floor(memoryBudget / (1 << 20));
  return new WorkbenchError(
    "unavailable",
    `Training on sequences of ${limits.longest} tokens does not fit into ${megabytes} MB, however it is cut.`,
    "Give more memory, shorten the sequences, or train an adapter instead of all weights.",
  );
}

function inWords(plan: { readonly keepProbabilities: boolean; readonly checkpointLayers: boolean; readonly headChunk: number }): string {
  const layers = plan.checkpointLayers ? "layers computed again in the backward pass" : "activations of all layers kept";
  const attention = plan.keepProbabilities ? "attention kept" : "attention computed again";
  return `${layers}, ${attention}, ${plan.headChunk} rows of logits at once`;
}
