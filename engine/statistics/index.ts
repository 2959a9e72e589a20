export type { Interval } from "./bootstrap.ts";
export * from "./interval.ts";
export { meanOverTasks, type PassEstimate, type PassKind, passOverTasks, type TaskMean, type TaskResult, taskResults } from "./over-tasks.ts";
export { comparePaired, type PairedComparison, type TaskDifference } from "./paired.ts";
export * from "./random.ts";
