export type { PolicyServer } from "./contract.ts";
export { servePolicy } from "./serve-policy.ts";
