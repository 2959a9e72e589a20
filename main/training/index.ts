export type { TrainingService } from "./contract.ts";
export type { TrainerSettings } from "./embedded/protocol.ts";
export { type EmbeddedTrainer, openEmbeddedTrainer } from "./embedded/trainer.ts";
export { type EvaluationRecord, evaluationRecordSchema } from "./records.ts";
export { createTrainingService } from "./service.ts";
