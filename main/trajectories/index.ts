export * from "./contract.ts";
export { rebuildTrajectories, trajectoryTotals } from "./rebuild.ts";
export { tokenSpans } from "./token-spans.ts";
export { readTranscript, type TranscriptCall } from "./transcript.ts";
