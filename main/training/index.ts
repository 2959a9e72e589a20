export type { TrainerSettings } from "./embedded/protocol.ts";
export { type EmbeddedTrainer, openEmbeddedTrainer } from "./embedded/trainer.ts";
