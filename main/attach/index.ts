export * from "./contract.ts";
export { correctionsOf } from "./corrections.ts";
export { createAttachService } from "./service.ts";
