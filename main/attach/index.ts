export * from "./contract.ts";
export { correctionsOf } from "./corrections.ts";
export { createAttachService } from "./service.ts";
export { isSession } from "./session-record.ts";
