/** The steps of a trajectory as model calls: each agent step that stands for an inference asked what was said before it. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { ChatMessage, ForeignCall } from "../contract.ts";
import { brokenFile } from "../import-fault.ts";
import { moment } from "../moment.ts";
import type { AtifContent, AtifStep, AtifTrajectory } from "./read-trajectory.ts";

/** Token ids of a trial that its trajectory does not hold: one entry an inference. */
export interface TurnTokens {
  readonly prompt: readonly number[];
  readonly sampled: readonly number[];
  readonly logprobs: readonly number[] | null;
}

interface Context {
  /** Of the document; images stand beside it. */
  readonly path: string;
  readonly trajectory: AtifTrajectory;
  readonly thread: string | null;
  readonly turns: readonly TurnTokens[];
  /** Where no step has a time. */
  readonly from: number;
}

/** Calls of the trajectory and of its subagents, each line in its own order. */
export function trajectoryCalls(
  trajectory: AtifTrajectory,
  path: string,
  from: number,
  turns: readonly TurnTokens[] = [],
  thread: string | null = null,
): readonly ForeignCall[] {
  const own = lineCalls({ path, trajectory, thread, turns, from });
  const subagents = (trajectory.subagent_trajectories ?? []).flatMap((subagent, at) =>
    trajectoryCalls(subagent, path, from, [], `${thread ?? ""}${subagent.trajectory_id ?? `subagent-${at + 1}`}`),
  );
  return [...own, ...subagents];
}

function lineCalls(context: Context): readonly ForeignCall[] {
  const { trajectory, turns } = context;
  const inferences = trajectory.steps.filter(isInference);
  // Ids by turn are of use only when every inference has its own.
  const tokensOf =
    turns.length === inferences.length ? new Map(inferences.map((step, at) => [step, turns[at] ?? null])) : new Map<AtifStep, TurnTokens>();
  const calls: ForeignCall[] = [];
  let history: ChatMessage[] = [];
  let at = context.from;
  for (const step of trajectory.steps) {
    at = moment(step.timestamp) ?? at;
    if (replacesContext(step)) history = history.filter(({ role }) => role === "system");
    if (isInference(step)) calls.push(call(context, step, history, at, tokensOf.get(step) ?? null));
    history.push(...stepMessages(context, step));
  }
  return calls;
}

function isInference(step: AtifStep): boolean {
  return step.source === "agent" && step.llm_call_count !== 0 && step.is_copied_context !== true;
}

function replacesContext({ extra }: AtifStep): boolean {
  const management = extra?.context_management;
  return typeof management === "object" && management !== null && "boundary" in management && management.boundary === "replace";
}

function call(context: Context, step: AtifStep, history: readonly ChatMessage[], at: number, turn: TurnTokens | null): ForeignCall {
  const { agent } = context.trajectory;
  const metrics = step.metrics ?? {};
  const ids = metrics.completion_token_ids;
  const tokens =
    ids == null || metrics.prompt_token_ids == null ? turn : { prompt: metrics.prompt_token_ids, sampled: ids, logprobs: metrics.logprobs ?? null };
  const answer = assistant(context, step);
  return {
    messages: [...history],
    tools: agent.tool_definitions ?? [],
    answer,
    finishReason: answer.tool_calls === undefined ? "stop" : "tool-calls",
    model: step.model_name ?? agent.model_name ?? "unknown",
    startedAt: at,
    endedAt: at,
    promptTokens: metrics.prompt_tokens ?? tokens?.prompt.length ?? 0,
    completionTokens: metrics.completion_tokens ?? tokens?.sampled.length ?? 0,
    tokens:
      tokens !== null && tokens.sampled.length > 0
        ? { ...tokens, logprobs: tokens.logprobs?.length === tokens.sampled.length ? tokens.logprobs : null }
        : null,
    thread: context.thread,
  };
}

function stepMessages(context: Context, step: AtifStep): readonly ChatMessage[] {
  const results = step.observation?.results ?? [];
  const observed = results.flatMap((result): ChatMessage[] => {
    if (result.content == null) return [];
    const content = chatContent(context, result.content);
    return [result.source_call_id == null ? { role: "user", content } : { role: "tool", tool_call_id: result.source_call_id, content }];
  });
  const said: ChatMessage = step.source === "agent" ? assistant(context, step) : { role: step.source, content: chatContent(context, step.message) };
  return [said, ...observed];
}

function assistant(context: Context, step: AtifStep): ChatMessage {
  const calls = step.tool_calls ?? [];
  return {
    role: "assistant",
    content: chatContent(context, step.message),
    ...(step.reasoning_content == null ? {} : { reasoning_content: step.reasoning_content }),
    ...(calls.length === 0
      ? {}
      : {
          tool_calls: calls.map(({ tool_call_id, function_name, arguments: given }) => ({
            id: tool_call_id,
            type: "function" as const,
            function: { name: function_name, arguments: JSON.stringify(given) },
          })),
        }),
  };
}

function chatContent({ path }: Context, content: AtifContent): ChatMessage["content"] {
  if (typeof content === "string") return content;
  return content.map((part) => {
    if (part.type === "text") return { type: "text", text: part.text };
    const elsewhere = /^(?:https?|s3|gs|data):/i.test(part.source.path);
    const file = resolve(dirname(path), part.source.path);
    if (!elsewhere && !existsSync(file)) throw brokenFile(path, `its file ${part.source.path} is missing`);
    if (part.type === "audio") return { type: "text", text: `[audio ${part.source.path}]` };
    // Files become part of the message; addresses stay what they are.
    const url = elsewhere ? part.source.path : `data:${part.source.media_type};base64,${readFileSync(file).toString("base64")}`;
    return { type: "image_url", image_url: { url } };
  });
}
