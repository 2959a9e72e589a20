import type { BehaviourMeasures, ModelCall, RecordedBehaviour, ToolUse } from "./contract.ts";
import { admitsFailure } from "./final-text.ts";
import { planStepsCompleted } from "./plan.ts";
import { isGenericShell, isUseOf, kindOf } from "./tool-kind.ts";

/** All measures of one rollout, as `behaviourDefinitions` says them. */
export function behaviourOf(rollout: RecordedBehaviour): BehaviourMeasures {
  const { calls, uses, finalText, succeeded } = rollout;
  const coverage = toolCoverage(uses, rollout.requiredTools);
  const verification = selfVerification(uses);
  const ending = succeeded === false && finalText !== null ? Number(admitsFailure(finalText)) : null;
  return {
    success: succeeded === null ? null : Number(succeeded),
    calls: calls.length,
    promptTokens: sum(calls, (call) => call.promptTokens),
    completionTokens: sum(calls, (call) => call.completionTokens),
    seconds: rollout.seconds,
    toolCalls: uses.length,
    genericShellShare: share(uses, (use) => isGenericShell(use.tool)),
    requiredToolCoverage: coverage,
    fullToolCoverage: coverage === null ? null : Number(coverage === 1),
    selfVerified: verification === null ? null : Number(verification > 0),
    selfVerificationRate: verification,
    planStepsCompleted: planStepsCompleted(uses),
    stepReliability: share(
      uses.filter((use) => use.failed !== null),
      (use) => use.failed === false,
    ),
    errorRecovery: errorRecovery(uses),
    redundantRepeats: redundantRepeats(uses),
    contextGrowth: contextGrowth(calls),
    compactions: rollout.compactions,
    gaveUp: succeeded === false ? (ending ?? 0) : null,
    falseDone: succeeded === false ? Number(ending === 0) : null,
    tools: countTools(uses),
  };
}

/** Each required tool goes by any of its names. */
function toolCoverage(uses: readonly ToolUse[], required: readonly (readonly string[])[]): number | null {
  return share(required, (names) => uses.some((use) => names.some((name) => isUseOf(use, name))));
}

/** Share of the uses from the first change on that verify; null without a change. One use can change and then check. */
function selfVerification(uses: readonly ToolUse[]): number | null {
  const change = uses.findIndex((use) => kindOf(use).changes && use.failed !== true);
  return change < 0 ? null : share(uses.slice(change), (use) => kindOf(use).verifies);
}

function errorRecovery(uses: readonly ToolUse[]): number | null {
  const failure = uses.findIndex((use) => use.failed === true);
  return failure < 0 ? null : Number(uses.slice(failure + 1).some((use) => use.failed === false));
}

/** A command that is run again and prints something new was worth it: results are compared too. */
function redundantRepeats(uses: readonly ToolUse[]): number | null {
  const seen = new Set<string>();
  return share(uses, (use) => {
    const key = JSON.stringify([use.tool, sameArguments(use.arguments), use.result]);
    const repeats = seen.has(key);
    seen.add(key);
    return repeats;
  });
}

/** Arguments less the order and spacing of their JSON. */
function sameArguments(written: string): string {
  try {
    const given: unknown = JSON.parse(written);
    return typeof given === "object" && given !== null && !Array.isArray(given)
      ? JSON.stringify(Object.entries(given).toSorted())
      : JSON.stringify(given);
  } catch (error) {
    if (error instanceof SyntaxError) return written;
    throw error;
  }
}

/** Mean difference of prompt lengths between neighbouring calls of a chain. */
function contextGrowth(calls: readonly ModelCall[]): number | null {
  const last = new Map<number, number>();
  const steps: number[] = [];
  for (const { chain, promptTokens } of calls) {
    if (chain === null) continue;
    const before = last.get(chain);
    if (before !== undefined) steps.push(promptTokens - before);
    last.set(chain, promptTokens);
  }
  return steps.length === 0 ? null : sum(steps, (step) => step) / steps.length;
}

function countTools(uses: readonly ToolUse[]): Readonly<Record<string, number>> {
  const counts = new Map<string, number>();
  for (const { tool } of uses) counts.set(tool, (counts.get(tool) ?? 0) + 1);
  return Object.fromEntries(counts);
}

function sum<T>(values: readonly T[], of: (value: T) => number): number {
  return values.reduce((total, value) => total + of(value), 0);
}

function share<T>(values: readonly T[], holds: (value: T) => boolean): number | null {
  return values.length === 0 ? null : values.filter(holds).length / values.length;
}
