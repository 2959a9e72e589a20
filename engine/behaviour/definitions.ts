import type { BehaviourMeasureName } from "./contract.ts";

export interface MeasureDefinition {
  /** As a table's heading. */
  readonly name: string;
  /** One sentence for a person. */
  readonly definition: string;
  /** How its numbers are written. `share` is a number from 0 to 1. */
  readonly unit: "share" | "count" | "tokens" | "seconds";
  readonly better: "higher" | "lower" | null;
}

/** What each measure means: the face shows these sentences beside the numbers. */
export const behaviourDefinitions: Readonly<Record<BehaviourMeasureName, MeasureDefinition>> = {
  success: {
    name: "success",
    definition: "Share of rollouts whose reward reached the task's maximum; rollouts without a reward are left out.",
    unit: "share",
    better: "higher",
  },
  calls: { name: "calls", definition: "Model calls that were answered, per rollout.", unit: "count", better: null },
  promptTokens: {
    name: "prompt tokens",
    definition: "Tokens of all prompts of a rollout, repeated ones counted again.",
    unit: "tokens",
    better: "lower",
  },
  completionTokens: { name: "sampled tokens", definition: "Tokens the policy sampled, per rollout.", unit: "tokens", better: null },
  seconds: {
    name: "wall time",
    definition: "Seconds from the start of a rollout to its end, sandbox and verifier included.",
    unit: "seconds",
    better: "lower",
  },
  toolCalls: { name: "tool calls", definition: "Tool calls the policy made, per rollout.", unit: "count", better: null },
  genericShellShare: {
    name: "generic shell",
    definition: "Share of tool calls that run a command in a general shell and not a tool made for the purpose.",
    unit: "share",
    better: null,
  },
  requiredToolCoverage: {
    name: "required tools",
    definition: "Share of the tools named as required by the task that were used at least once; tasks that name none are left out.",
    unit: "share",
    better: "higher",
  },
  fullToolCoverage: {
    name: "all required tools",
    definition: "Share of rollouts that used every tool named as required by their task.",
    unit: "share",
    better: "higher",
  },
  selfVerified: {
    name: "self-verified",
    definition:
      "Share of rollouts in which, after a change, at least one tool call tested or read back the work; rollouts without a change are left out.",
    unit: "share",
    better: "higher",
  },
  selfVerificationRate: {
    name: "self-verification rate",
    definition: "Share of the tool calls from the first change on that tested or read back the work.",
    unit: "share",
    better: null,
  },
  planStepsCompleted: {
    name: "plan steps completed",
    definition:
      "Share of the steps in the last plan the agent wrote with a planning tool that it had marked as completed; rollouts without a plan are left out.",
    unit: "share",
    better: "higher",
  },
  stepReliability: {
    name: "step reliability",
    definition: "Share of tool calls that came back without an error; calls whose result does not say are left out.",
    unit: "share",
    better: "higher",
  },
  errorRecovery: {
    name: "error recovery",
    definition: "Of the rollouts in which a tool call failed, the share in which a later tool call succeeded.",
    unit: "share",
    better: "higher",
  },
  redundantRepeats: {
    name: "redundant repeats",
    definition: "Share of tool calls equal to an earlier one of the rollout in tool, arguments and result.",
    unit: "share",
    better: "lower",
  },
  contextGrowth: {
    name: "context growth",
    definition: "Tokens by which the prompt grew from one call to the next of the same chain, on average.",
    unit: "tokens",
    better: "lower",
  },
  compactions: { name: "compactions", definition: "Times the harness replaced history by a summary, per rollout.", unit: "count", better: null },
  gaveUp: {
    name: "gave up",
    definition: "Share of rollouts without success that ended with a text that says the task was not done.",
    unit: "share",
    better: "lower",
  },
  falseDone: {
    name: "false “done”",
    definition: "Share of rollouts without success that ended with a text that claims success or admits no failure.",
    unit: "share",
    better: "lower",
  },
};
