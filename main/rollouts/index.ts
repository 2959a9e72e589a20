export * from "./contract.ts";
// Function of this face: createRolloutService(options): RolloutService.
