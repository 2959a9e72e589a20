export type { PolicyBatch, TrainerInfo, TrainerSettings } from "./embedded/protocol.ts";
export { type EmbeddedTrainer, openEmbeddedTrainer, type StepResult } from "./embedded/trainer.ts";
