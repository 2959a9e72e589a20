export * from "./contract.ts";
export { createPlacementIndex } from "./placement.ts";
export { type ReconstructOptions, reconstruct } from "./reconstruct.ts";
