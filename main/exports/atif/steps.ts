import type { Answer, Message, ToolCall } from "../../../engine/conversation/index.ts";
import type { ChainTokens } from "../../../engine/graph/index.ts";
import type { TranscriptCall } from "../../trajectories/index.ts";
import { argumentsOf, fullName } from "../rows/chat-form.ts";
import type { AtifStep } from "./atif-form.ts";
import type { MediaFiles } from "./media-files.ts";

type StepBody = Omit<AtifStep, "step_id">;

/** A message that the harness put in. An assistant's that the policy did not sample here is no inference: copied or made up. */
export function messageStep(message: Message, { call }: TranscriptCall, media: MediaFiles): StepBody {
  const timestamp = new Date(call.startedAt).toISOString();
  if (message.role === "other") return { timestamp, source: "system", message: message.raw, extra: { role: "other" } };
  if (message.role === "assistant") {
    return {
      timestamp,
      source: "agent",
      message: media.content(message.content),
      ...(message.toolCalls.length === 0 ? {} : { tool_calls: message.toolCalls.map(toolCall) }),
      is_copied_context: true,
      llm_call_count: 0,
    };
  }
  const source = message.role === "system" || message.role === "developer" ? "system" : "user";
  const role = message.role === "developer" || message.role === "tool" ? { extra: { role: message.role } } : {};
  return { timestamp, source, message: media.content(message.content), ...role };
}

/** A model call with its answer and what came back for its tool calls. `tokens`: of its chain; null without token ids. */
export function agentStep(
  said: TranscriptCall,
  answer: Pick<Answer, "message" | "finishReason" | "usage">,
  tokens: ChainTokens | null,
  media: MediaFiles,
): StepBody {
  const { call, results } = said;
  const { message } = answer;
  const made = new Set(message.toolCalls.map(({ id }) => id));
  const observed = results.flatMap((result, at) => {
    const id = message.toolCalls[at]?.id;
    return result === null || id === undefined || !made.has(id) ? [] : [{ source_call_id: id, content: media.content(result.content) }];
  });
  return {
    timestamp: new Date(call.endedAt).toISOString(),
    source: "agent",
    model_name: call.policyVersion ?? call.model,
    message: media.content(message.content),
    ...(message.reasoning === undefined ? {} : { reasoning_content: message.reasoning }),
    ...(message.toolCalls.length === 0 ? {} : { tool_calls: message.toolCalls.map(toolCall) }),
    ...(observed.length === 0 ? {} : { observation: { results: observed } }),
    metrics: {
      prompt_tokens: call.promptTokens,
      completion_tokens: call.completionTokens,
      ...(answer.usage.cachedTokens === undefined ? {} : { cached_tokens: answer.usage.cachedTokens }),
      ...(tokens === null ? {} : tokenMetrics(tokens, call.index)),
    },
    llm_call_count: 1,
    extra: { call: call.index, finish_reason: answer.finishReason, ...(call.unparsedToolCall ? { unparsed_tool_call: true } : {}) },
  };
}

/** Ids of the whole prompt and of the answer, and which of them are trained. Log-probabilities only when every one is a number. */
function tokenMetrics({ ids, mask, logprobs, segments }: ChainTokens, call: number) {
  const sampled = segments.find(({ callIndex, kind }) => callIndex === call && kind === "sampled");
  if (sampled === undefined) return {};
  const { start, end } = sampled;
  const numbers = Array.from(logprobs.subarray(start, end));
  return {
    prompt_token_ids: Array.from(ids.subarray(0, start)),
    completion_token_ids: Array.from(ids.subarray(start, end)),
    ...(numbers.every(Number.isFinite) ? { logprobs: numbers } : {}),
    extra: { loss_mask: Array.from(mask.subarray(start, end)) },
  };
}

function toolCall(call: ToolCall) {
  return {
    tool_call_id: call.id,
    function_name: fullName(call),
    arguments: argumentsOf(call),
    ...(call.kind === "custom" ? { extra: { kind: "custom" } } : {}),
  };
}
