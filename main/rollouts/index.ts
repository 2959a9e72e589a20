export * from "./contract.ts";
export { probeHarness } from "./probe-harness.ts";
export { createRolloutService } from "./service.ts";
export { fairRewards } from "./summary.ts";
