export * from "./contract.ts";
export { type RebuildOptions, rebuildTrajectories, trajectoryTotals } from "./rebuild.ts";
export { tokenSpans } from "./token-spans.ts";
