export * from "./contract.ts";
export { behaviourDefinitions, type MeasureDefinition } from "./definitions.ts";
export { behaviourOf } from "./measure.ts";
export { type BehaviourSummary, type MeasuredRollout, summariseBehaviour, valuesOf } from "./summarise.ts";
export { isObservation, textAction } from "./text-action.ts";
export { isGenericShell } from "./tool-kind.ts";
export { toolFailed } from "./tool-result.ts";
