/** The plan an agent keeps with a planning tool: `update_plan` (plan), `TodoWrite` and `write_todos` (todos). */
import type { ToolUse } from "./contract.ts";
import { isPlanning } from "./tool-kind.ts";

/** Share of the last plan's steps that are marked as completed; null without a plan that can be read. */
export function planStepsCompleted(uses: readonly ToolUse[]): number | null {
  for (const use of uses.toReversed()) {
    const steps = isPlanning(use.tool) ? stepsOf(use.arguments) : [];
    if (steps.length > 0) return steps.filter((status) => /^(?:completed?|done|finished)$/i.test(status)).length / steps.length;
  }
  return null;
}

function stepsOf(written: string): readonly string[] {
  let given: unknown;
  try {
    given = JSON.parse(written);
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
  if (typeof given !== "object" || given === null) return [];
  const list = Object.values(given).find((value): value is unknown[] => Array.isArray(value)) ?? [];
  return list.flatMap((step) =>
    typeof step === "object" && step !== null && "status" in step && typeof step.status === "string" ? [step.status] : [],
  );
}
