/** A trainer process as the service sees it. */
import type { Matrix } from "../../../engine/algorithms/index.ts";
import type { SamplingSettings } from "../../../engine/decoding/index.ts";
import { type AskOptions, type Child, openChild } from "../../engine-process/index.ts";
import { WorkbenchError } from "../../errors.ts";
import { divergedKind, type PolicyBatch, type TrainerAsk, type TrainerInfo, type TrainerReply, type TrainerSettings } from "./protocol.ts";

/** What a step did; `skipped` says why nothing was trained; `measures` only of a policy step. */
type StepResult = Omit<Extract<TrainerReply, { type: "stepped" }>, "type">;

/** Every method rejects with WorkbenchError, or with the signal's reason; an abort stops between micro-batches. */
export interface EmbeddedTrainer {
  readonly info: TrainerInfo;
  supervisedStep(
    batch: { readonly sequences: readonly Int32Array[]; readonly mask: Matrix; readonly rate: number },
    options?: AskOptions,
  ): Promise<StepResult>;
  /** Without a step: for held-out texts. */
  supervisedLoss(batch: { readonly sequences: readonly Int32Array[]; readonly mask: Matrix }, options?: AskOptions): Promise<number>;
  policyStep(batch: PolicyBatch, options?: AskOptions): Promise<StepResult>;
  save(folder: string, position: string): Promise<void>;
  /** Writes what answers model calls at this step, whole or not at all: the adapter, or all weights. Replaces what is there. */
  publish(folder: string): Promise<void>;
  exportModel(folder: string, options?: AskOptions): Promise<void>;
  close(): Promise<void>;
}

const entry = { source: new URL("./process-from-source.mjs", import.meta.url), built: new URL("./trainer-process.js", import.meta.url) };

/** Resolves when the model is loaded; `info` says what memory it will take, before the first step. */
export async function openEmbeddedTrainer(settings: TrainerSettings): Promise<EmbeddedTrainer> {
  try {
    const { info, child } = await openChild<TrainerSettings, TrainerInfo, TrainerAsk, TrainerReply>(entry, settings);
    return trainerOf(info, child);
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    throw new WorkbenchError(
      "unavailable",
      `The model in ${settings.modelFolder} cannot be trained: ${problem}`,
      "Check the model folder and the settings of the run.",
      {
        cause: error,
      },
    );
  }
}

function trainerOf(info: TrainerInfo, child: Child<TrainerAsk, TrainerReply>): EmbeddedTrainer {
  async function ask<Type extends TrainerReply["type"]>(
    type: Type,
    asked: TrainerAsk,
    options?: AskOptions,
  ): Promise<Extract<TrainerReply, { type: Type }>> {
    const answer = await child.ask(asked, options);
    if (!answer.ok) {
      const remedy =
        answer.failure.kind === divergedKind ? "Go on from the last checkpoint with a lower learning rate." : "Go on from the last checkpoint.";
      throw new WorkbenchError("unavailable", `The training stopped: ${answer.failure.message}.`, remedy);
    }
    if (answer.reply.type !== type) throw new Error(`the trainer answered ${answer.reply.type} to ${asked.type}`);
    return answer.reply as Extract<TrainerReply, { type: Type }>;
  }
  return {
    info,
    supervisedStep: (batch, options) => ask("stepped", { type: "supervised", ...batch }, options),
    supervisedLoss: async (batch, options) => (await ask("loss", { type: "supervised-loss", ...batch }, options)).loss,
    async policyStep(batch, options) {
      refuseTruncated(batch.sampling);
      return ask("stepped", { type: "policy", batch }, options);
    },
    save: async (folder, position) => void (await ask("written", { type: "save", folder, position })),
    publish: async (folder) => void (await ask("written", { type: "publish", folder })),
    exportModel: async (folder, options) => void (await ask("written", { type: "export-model", folder }, options)),
    close: () => child.close(),
  };
}

/** The log-probability of a token is then that of a distribution whose support moves with the weights: no gradient describes it. */
function refuseTruncated({ temperature, topP, topK, minP }: SamplingSettings): void {
  const truncated = [
    ...(temperature > 0 ? [] : [`temperature ${temperature}`]),
    ...(topP < 1 ? [`top-p ${topP}`] : []),
    ...(topK > 0 ? [`top-k ${topK}`] : []),
    ...(minP > 0 ? [`min-p ${minP}`] : []),
  ];
  if (truncated.length === 0) return;
  throw new WorkbenchError(
    "usage",
    `Answers drawn with ${truncated.join(", ")} cannot be trained on: not every token could have been drawn.`,
    "Sample with a temperature above 0 and nothing else.",
  );
}
