/**
 * How a policy went about its task, measured on one rollout's conversation: tool uses with their results, model calls, final text.
 * Values in, values out; who reads recordings makes a `RecordedBehaviour` of each.
 */

/** One tool call that the policy made, in order, with what came back. */
export interface ToolUse {
  readonly tool: string;
  /** JSON text of an object, or free text. */
  readonly arguments: string;
  /** Null when no result was ever sent back. */
  readonly result: string | null;
  /** Null when the result does not say. */
  readonly failed: boolean | null;
}

/** A model call that was answered. */
export interface ModelCall {
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Chain that owns the call; null when it is in none. */
  readonly chain: number | null;
}

export interface RecordedBehaviour {
  /** Reward ≥ the task's maximum; null without a reward. */
  readonly succeeded: boolean | null;
  readonly seconds: number | null;
  readonly calls: readonly ModelCall[];
  readonly uses: readonly ToolUse[];
  /** Tools the task says a good solution needs, each by the names any of which will do: of a tool, a server of tools, a program. */
  readonly requiredTools: readonly (readonly string[])[];
  /** Times the harness replaced history by a summary. */
  readonly compactions: number;
  /** Text of the last answer that called no tool; null when the rollout ended otherwise. */
  readonly finalText: string | null;
}

export const behaviourMeasureNames = [
  "success",
  "calls",
  "promptTokens",
  "completionTokens",
  "seconds",
  "toolCalls",
  "genericShellShare",
  "requiredToolCoverage",
  "fullToolCoverage",
  "selfVerified",
  "selfVerificationRate",
  "planStepsCompleted",
  "stepReliability",
  "errorRecovery",
  "redundantRepeats",
  "contextGrowth",
  "compactions",
  "gaveUp",
  "falseDone",
] as const;
export type BehaviourMeasureName = (typeof behaviourMeasureNames)[number];

/** Shares and yes/no measures are numbers from 0 to 1; null = the measure says nothing about this rollout. */
export type BehaviourMeasures = { readonly [name in BehaviourMeasureName]: number | null } & {
  /** Uses by tool name. */
  readonly tools: Readonly<Record<string, number>>;
};
