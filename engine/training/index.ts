export { type AdvantageSettings, type Algorithm, type AlgorithmName, namedAlgorithms, type PolicyLossSettings } from "./algorithm.ts";
export { type Experience, type PreparedExperience, prepareExperience, type RolloutOutcome } from "./experience.ts";
export { choosePlan, estimateMemory, type MemoryEstimate, memoryPlans, type TrainingSize } from "./memory.ts";
export { bucketWidths, largestBatch, type MicroBatch, type MicroBatchPlan, planMicroBatches } from "./micro-batches.ts";
export { type Objective, policyObjective, supervisedCoefficients, supervisedLoss } from "./objective.ts";
export { OpenSessions } from "./open-sessions.ts";
export { type Place, type Placement, packIntoRows, placeInRows } from "./placement.ts";
export {
  type Coefficients,
  type FloatArray,
  parameterShapes,
  type Scores,
  type SequenceBatch,
  SequenceModel,
  type SequenceModelOptions,
} from "./sequence-model.ts";
export { type StepOptions, type StepReport, Trainer, type TrainerOptions, TrainingDiverged } from "./trainer.ts";
