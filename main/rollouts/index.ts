export * from "./contract.ts";
export { experimentId, idMaker } from "./plan.ts";
export { refusalOf } from "./preflight.ts";
export { usualTokenMode } from "./prepare.ts";
export { probeHarness } from "./probe-harness.ts";
export { createRolloutService } from "./service.ts";
export { fairRewards } from "./summary.ts";
