import type { PlacementIndex } from "./contract.ts";

/** The prefix forest of one attempt, grown call by call. */
export function createPlacementIndex(): PlacementIndex {
  throw new Error("not built yet");
}
