export { AdamW, type AdamWSettings, type AdamWState, type NamedArrays } from "./adamw.ts";
export { clipFactor, firstNonFinite, GradientSum, globalNorm } from "./gradients.ts";
export { learningRate, type Schedule } from "./schedule.ts";
