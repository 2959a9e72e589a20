export * from "./contract.ts";
export { refusalOf } from "./preflight.ts";
export { probeHarness } from "./probe-harness.ts";
export { createRolloutService } from "./service.ts";
export { fairRewards } from "./summary.ts";
