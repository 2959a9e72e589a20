export * from "./contract.ts";
export { isModelCall } from "./model-call.ts";
export { openStore, type StoreOptions } from "./open-store.ts";
export { exportRecording, importRecording } from "./recording.ts";
