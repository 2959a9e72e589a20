/** How the engine's peer spends memory in a training step. */

import type { MemoryPlan, ModelDescription } from "../../../engine/models/index.ts";
import { memoryPlans } from "../../../engine/training/index.ts";

/** Ways of a step, from fast to frugal: taken where memory suffices; attention's probabilities, or whole layers, computed again in the backward pass. */
const kinds = {
  fastest: () => true,
  sparing: (plan: MemoryPlan) => !(plan.keepProbabilities || plan.checkpointLayers),
  frugal: (plan: MemoryPlan) => !plan.keepProbabilities && plan.checkpointLayers,
} as const;
export type PlanKind = keyof typeof kinds;

export function planOf(kind: PlanKind, description: ModelDescription): MemoryPlan {
  const plan = memoryPlans(description, false).find(kinds[kind]);
  if (plan === undefined) throw new Error(`there is no ${kind} memory plan`);
  return plan;
}
