export * from "./contract.ts";
export { behaviourDefinitions, type MeasureDefinition } from "./definitions.ts";
export { behaviourOf } from "./measure.ts";
export { type BehaviourSummary, type MeasuredRollout, summariseBehaviour, valuesOf } from "./summarise.ts";
export { toolFailed } from "./tool-result.ts";
