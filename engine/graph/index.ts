export * from "./contract.ts";
export { createPlacementIndex } from "./placement.ts";
export { reconstruct } from "./reconstruct.ts";
