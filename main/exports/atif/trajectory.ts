/**
 * A rollout as an ATIF document. The main line is told call by call: what is new in each request, then the answer with its tool calls
 * and what came back for them. Subagents and side calls are documents of their own inside. After a break (compaction, edited turn …) only messages
 * that were not told before are told, and the first new step says what happened to the context.
 */
import type { Message, ToolDefinition } from "../../../engine/conversation/index.ts";
import type { ExperimentRecord, RolloutRecord, StepRecord, Store } from "../../store/index.ts";
import { readTranscript, rebuildTrajectories, type Trajectories, type TranscriptCall } from "../../trajectories/index.ts";
import { chatTools } from "../rows/chat-form.ts";
import type { AtifAgent, AtifStep, AtifTrajectory } from "./atif-form.ts";
import type { MediaFiles } from "./media-files.ts";
import { agentStep, messageStep } from "./steps.ts";

export interface AtifSource {
  readonly store: Store;
  readonly experiment: ExperimentRecord | null;
  readonly rollout: RolloutRecord;
  readonly media: MediaFiles;
  /** Only what happened in this step of several. */
  readonly step?: StepRecord;
}

/** Null when no call of the rollout can be told: the format wants a step at least. */
export function atifTrajectory(source: AtifSource): AtifTrajectory | null {
  const { store, rollout, step } = source;
  const trajectories = rebuildTrajectories(store, rollout.id);
  const said = readTranscript(store, rollout.id, trajectories).filter(({ chain, call }) => chain !== null && isOfStep(step, call.index));
  const isApart = (call: TranscriptCall): boolean => apartChainOf(call, trajectories, said) !== null;
  const main = said.filter((call) => !isApart(call));
  const steps = stepsOf(source, main, trajectories);
  if (steps.length === 0) return null;
  const subagents = [...new Set(said.flatMap((call) => apartChainOf(call, trajectories, said) ?? []))].map((chain) =>
    apartTrajectory(
      source,
      chain,
      said.filter((call) => apartChainOf(call, trajectories, said) === chain),
      trajectories,
    ),
  );
  return {
    schema_version: "ATIF-v1.8",
    session_id: rollout.id,
    trajectory_id: step === undefined ? rollout.id : `${rollout.id}-${step.name}`,
    agent: agentOf(rollout, main),
    steps,
    final_metrics: {
      total_prompt_tokens: said.reduce((sum, { call }) => sum + call.promptTokens, 0),
      total_completion_tokens: said.reduce((sum, { call }) => sum + call.completionTokens, 0),
      total_steps: steps.length,
    },
    ...(subagents.length === 0 ? {} : { subagent_trajectories: subagents }),
    extra: { openforge: about(source, trajectories) },
  };
}

/** Calls belong to the step that ran when they came. */
export function isOfStep(step: StepRecord | undefined, callIndex: number): boolean {
  return step === undefined || (callIndex >= step.firstCall && callIndex < step.firstCall + step.calls);
}

/** Causes of chains that are no part of the main line. */
const apart: ReadonlySet<string | null> = new Set(["subagent", "side"]);

function apartTrajectory(source: AtifSource, chain: number, said: readonly TranscriptCall[], trajectories: Trajectories): AtifTrajectory {
  const { rollout } = source;
  const side = said.find(({ call }) => call.side !== null)?.call.side ?? undefined;
  return {
    schema_version: "ATIF-v1.8",
    session_id: rollout.id,
    trajectory_id: `${rollout.id}-chain-${chain}`,
    agent: agentOf(rollout, said),
    steps: stepsOf(source, said, trajectories),
    extra: { openforge: { chain, ...(side === undefined ? {} : { side_call: side }) } },
  };
}

/** The chain that began the subagent (or the side call) that a call belongs to, through the breaks that followed; null on the main line. */
function apartChainOf(call: TranscriptCall, { chains }: Trajectories, said: readonly TranscriptCall[]): number | null {
  for (let at: TranscriptCall | undefined = call; at !== undefined; ) {
    if (at.chain !== null && apart.has(chains[at.chain]?.breakCause ?? null)) return at.chain;
    const { parent }: TranscriptCall = at;
    at = parent === null ? undefined : said.find((other) => other.call.index === parent);
  }
  return null;
}

function stepsOf(source: AtifSource, said: readonly TranscriptCall[], trajectories: Trajectories): readonly AtifStep[] {
  const steps: AtifStep[] = [];
  const told = new Set<string>();
  const masks = new Map(
    trajectories.chains.flatMap(({ number, tokens }) => (tokens === 0 ? [] : [[number, trajectories.tokensOf(number)] as const])),
  );
  for (const call of said) {
    const goesOn = call.parent !== null;
    const news = call.messages.slice(call.known).filter((message) => goesOn || !told.has(keyOf(message)));
    const first = steps.length;
    for (const message of news) {
      told.add(keyOf(message));
      // Results stand with the call that they answer.
      const step = isResultToldBefore(message, said) ? null : messageStep(message, call, source.media);
      if (step !== null) steps.push({ step_id: steps.length + 1, ...step });
    }
    if (call.answer !== null) {
      told.add(keyOf(call.answer.message));
      steps.push({ step_id: steps.length + 1, ...agentStep(call, call.answer, masks.get(call.chain ?? -1) ?? null, source.media) });
    }
    markBreak(steps, first, call, trajectories);
  }
  return steps;
}

const managed: Readonly<Record<string, { readonly type: string; readonly boundary: string }>> = {
  compaction: { type: "compaction", boundary: "replace" },
  "edited-turn": { type: "pruning", boundary: "replace" },
};

function markBreak(steps: AtifStep[], first: number, { call, chain, parent }: TranscriptCall, { chains }: Trajectories): void {
  const cause = chain === null ? null : (chains[chain]?.breakCause ?? null);
  const begins = chain !== null && chains[chain]?.calls[(chains[chain]?.calls.length ?? 0) - (chains[chain]?.owned ?? 0)] === call.index;
  const step = steps[first];
  if (!begins || cause === null || apart.has(cause) || step === undefined) return;
  const management = managed[cause];
  steps[first] = {
    ...step,
    extra: {
      ...step.extra,
      openforge_break: { cause, chain, after_call: parent },
      ...(management === undefined ? {} : { context_management: management }),
    },
  };
}

/** A result that `agentStep` has put with its call. */
function isResultToldBefore(message: Message, said: readonly TranscriptCall[]): boolean {
  return message.role === "tool" && said.some(({ results }) => results.includes(message));
}

function keyOf(message: Message): string {
  if (message.role === "other") return message.raw;
  return message.role === "assistant"
    ? JSON.stringify([message.role, message.content, message.toolCalls.map(({ name, arguments: given }) => [name, given])])
    : JSON.stringify([message.role, message.content]);
}

function agentOf(rollout: RolloutRecord, said: readonly TranscriptCall[]): AtifAgent {
  const tools: readonly ToolDefinition[] = said.findLast((call) => call.tools.length > 0)?.tools ?? [];
  return {
    name: rollout.harness,
    version: rollout.harnessVersion,
    model_name: rollout.policy,
    ...(tools.length === 0 ? {} : { tool_definitions: chatTools(tools) }),
  };
}

function about({ experiment, rollout }: AtifSource, trajectories: Trajectories) {
  return {
    experiment: experiment?.name ?? rollout.experimentId,
    rollout: rollout.id,
    task: rollout.taskName,
    task_digest: rollout.taskDigest,
    sandbox: rollout.sandbox,
    seed: rollout.seed,
    group_index: rollout.groupIndex,
    policy_version: rollout.policyVersion,
    outcome: rollout.outcome,
    reward: rollout.reward,
    rewards: rollout.rewards,
    trainable: trajectories.trainable,
    trainable_reason: trajectories.reason,
    trained_tokens: trajectories.trainedTokens,
  };
}
