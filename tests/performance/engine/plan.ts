/** How the engine's peer spends memory in a training step. */

import type { MemoryPlan, ModelDescription } from "../../../engine/models/index.ts";
import { memoryPlans } from "../../../engine/training/index.ts";

/** `fastest`: taken where memory suffices. `frugal`: layers are computed again in the backward pass. */
export type PlanKind = "fastest" | "frugal";

export function planOf(kind: PlanKind, description: ModelDescription): MemoryPlan {
  const plans = memoryPlans(description, false);
  const plan = kind === "fastest" ? plans[0] : plans.find(({ checkpointLayers, keepProbabilities }) => checkpointLayers && !keepProbabilities);
  if (plan === undefined) throw new Error(`there is no ${kind} memory plan`);
  return plan;
}
