/** Entry of a trainer process: holds one model and its optimiser, takes steps and writes checkpoints until its parent goes away. */
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Matrix, maskTotal, samplerGap } from "../../../engine/algorithms/index.ts";
import { mergedWeights, writePeftAdapter } from "../../../engine/models/index.ts";
import {
  type Experience,
  type PreparedExperience,
  policyObjective,
  prepareExperience,
  type StepReport,
  supervisedLoss,
  Trainer,
  TrainingDiverged,
} from "../../../engine/training/index.ts";
import { type AskContext, type ChildHandler, serveParent } from "../../engine-process/index.ts";
import { openRuntime } from "../../engine-runtime/index.ts";
import { type ModelFolder, openModelFolder, writeModelFolder } from "../../models/index.ts";
import { readCheckpoint, writeCheckpoint, writeFolder } from "./checkpoint.ts";
import {
  divergedKind,
  type PolicyBatch,
  type PolicyMeasures,
  type TrainerAsk,
  type TrainerInfo,
  type TrainerReply,
  type TrainerSettings,
} from "./protocol.ts";
import { createTrainee, type Trainee } from "./trainee.ts";

class TrainerHandler implements ChildHandler<TrainerAsk, TrainerReply> {
  readonly #folder: ModelFolder;
  readonly #settings: TrainerSettings;
  readonly #trainee: Trainee;
  readonly #trainer: Trainer;

  constructor(folder: ModelFolder, settings: TrainerSettings, trainee: Trainee, trainer: Trainer) {
    this.#folder = folder;
    this.#settings = settings;
    this.#trainee = trainee;
    this.#trainer = trainer;
  }

  async answer(ask: TrainerAsk, context: AskContext): Promise<TrainerReply> {
    switch (ask.type) {
      case "supervised":
        return this.#supervised(ask, context);
      case "supervised-loss":
        return { type: "loss", loss: supervisedLoss((await this.#trainer.score(ask.sequences, context)).logprobs, ask.mask) };
      case "policy":
        return this.#policy(ask.batch, context);
      case "save":
        await writeCheckpoint(
          ask.folder,
          { parameters: this.#trainee.parameters, optimiser: this.#trainer.state, position: ask.position },
          this.#adapterFiles(),
        );
        return { type: "written" };
      case "publish":
        await this.#publish(ask.folder, context);
        return { type: "written" };
      case "export-model":
        await this.#exportModel(ask.folder, context);
        return { type: "written" };
    }
  }

  async #supervised({ sequences, mask, rate }: Extract<TrainerAsk, { type: "supervised" }>, context: AskContext): Promise<TrainerReply> {
    const report = await this.#trainer.supervisedStep(sequences, mask, { rate, ...context });
    return stepped([report], report === null ? "no token of the batch is trained" : null, null);
  }

  async #policy({ algorithm, sequences, epochs, rate, ...batch }: PolicyBatch, context: AskContext): Promise<TrainerReply> {
    const { temperature } = batch.sampling;
    const before = await this.#trainer.score(sequences, { signal: context.signal, temperature });
    const experience: Experience = {
      ...{ rollouts: batch.rollouts, rolloutOfRow: batch.rolloutOfRow, mask: batch.mask, sampler: batch.sampler },
      ...{
        old: before.logprobs,
        reference: algorithm.divergence === null ? null : await this.#reference(sequences, temperature),
        values: before.values,
      },
    };
    const prepared = prepareExperience(experience, algorithm, batch.divergenceCoefficient);
    const measures = measuresOf(experience, prepared, before.entropy);
    if (prepared.skipped !== null) return stepped([], prepared.skipped, measures);
    const reports: (StepReport | null)[] = [];
    for (let epoch = 0; epoch < epochs; epoch += 1) {
      // The first pass is taken at the scores that were just measured.
      const known = epoch === 0 ? { known: before } : {};
      const objective = (scores: typeof before) => policyObjective(algorithm, experience, prepared, scores);
      reports.push(await this.#trainer.policyStep(sequences, prepared.mask, objective, { rate, temperature, ...context, ...known }));
    }
    return stepped(reports, null, measures);
  }

  async #reference(sequences: readonly Int32Array[], temperature: number): Promise<Matrix> {
    return (await this.#trainer.scoreWith(this.#trainee.reference, sequences, { temperature })).logprobs;
  }

  #adapterFiles(): Readonly<Record<string, string | Uint8Array>> {
    const adapter = this.#trainee.adapter();
    if (adapter === null || this.#settings.lora === null) return {};
    const { config, weights } = writePeftAdapter(this.#folder.description, adapter, this.#settings.lora, this.#settings.modelFolder);
    return { "adapter_config.json": config, "adapter_model.safetensors": weights };
  }

  async #publish(target: string, context: AskContext): Promise<void> {
    if (this.#trainee.adapter() !== null) return writeFolder(target, this.#adapterFiles());
    await rm(target, { recursive: true, force: true });
    await this.#exportModel(target, context);
  }

  async #exportModel(target: string, { signal, onProgress }: AskContext): Promise<void> {
    const { description, weights, folder } = this.#folder;
    const adapter = this.#trainee.adapter();
    const weight =
      adapter === null ? (name: string) => this.#trainee.parameters.get(name) ?? new Float32Array() : mergedWeights(description, weights, adapter);
    const names = ["config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json", "chat_template.jinja"];
    const texts = await Promise.all(names.map(async (name) => [name, await readFile(join(folder, name), "utf8").catch(() => null)] as const));
    const files = Object.fromEntries(texts.filter((entry): entry is readonly [string, string] => entry[1] !== null));
    await writeModelFolder(target, { description, weight, files }, { signal, onProgress });
  }
}

function stepped(reports: readonly (StepReport | null)[], skipped: string | null, measures: PolicyMeasures | null): TrainerReply {
  const made = reports.filter((report) => report !== null);
  return { type: "stepped", reports: made, skipped, measures, memoryBytes: process.resourceUsage().maxRSS * 1024 };
}

function measuresOf(
  { old, reference, sampler, mask }: Experience,
  { mask: trained, advantages, flatGroupShare, correction, divergenceInReward }: PreparedExperience,
  entropy: Matrix | null,
): PolicyMeasures {
  return {
    ...{ old, reference, entropy, mask: trained, advantages, flatGroupShare, divergenceInReward },
    gap: sampler === null || maskTotal(mask) === 0 ? null : samplerGap(old, sampler, mask),
    correction: correction === null ? null : { importance: correction.importance, rejected: correction.rejected },
  };
}

async function open(settings: TrainerSettings): Promise<{ readonly info: TrainerInfo; readonly handler: TrainerHandler }> {
  const runtime = await openRuntime(settings.threads === null ? {} : { threads: settings.threads });
  const folder = await openModelFolder(settings.modelFolder);
  const trainee = createTrainee(runtime, folder, settings);
  const trainer = new Trainer({ ...settings, model: trainee.model, parameters: trainee.parameters });
  let position: string | null = null;
  if (settings.resumeFrom !== null) {
    const checkpoint = await readCheckpoint(settings.resumeFrom);
    trainer.restore(checkpoint.optimiser);
    for (const [name, values] of trainee.parameters) {
      const stored = checkpoint.parameters.get(name);
      if (stored?.length !== values.length)
        throw new Error(`the checkpoint ${settings.resumeFrom} is of another model or other settings: ${name} does not fit`);
      values.set(stored);
    }
    position = checkpoint.position;
  }
  const trainedParameters = [...trainee.parameters.values()].reduce((sum, values) => sum + values.length, 0);
  const { estimate, plan } = trainee;
  const info = { provider: runtime.provider, estimate, plan, trainedParameters, step: trainer.state.step, position };
  return { info, handler: new TrainerHandler(folder, settings, trainee, trainer) };
}

serveParent<TrainerSettings, TrainerInfo, TrainerAsk, TrainerReply>({
  open,
  failureOf: (error) => (error instanceof TrainingDiverged ? { kind: divergedKind, message: error.message } : null),
});
