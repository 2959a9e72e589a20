/** Reads one whole Chat Completions body, of any server. */
import { z } from "zod";
import type { ToolCall } from "../../../../engine/conversation/index.ts";
import { readFinishReason, readUsage, type StreamedAnswer, usageSchema } from "./stream-reader.ts";

const numbers = z.array(z.number());

/** llama.cpp says the id with it, and `prob` where it was asked for the probability after filters. */
const logprobSchema = z.looseObject({
  token: z.string().nullish(),
  id: z.number().nullish(),
  logprob: z.number().nullish(),
  prob: z.number().nullish(),
});

/** `prompt_token_ids` and `token_ids` come from servers that were asked for ids; log-probs may be null where JSON had no number. */
const choiceSchema = z.looseObject({
  message: z.looseObject({
    content: z.union([z.string(), z.array(z.looseObject({ type: z.string(), text: z.string().nullish() }))]).nullish(),
    reasoning_content: z.string().nullish(),
    reasoning: z.string().nullish(),
    tool_calls: z
      .array(
        z.looseObject({
          id: z.string().nullish(),
          function: z.looseObject({ name: z.string(), arguments: z.unknown().optional() }).nullish(),
          custom: z.looseObject({ name: z.string(), input: z.string() }).nullish(),
        }),
      )
      .nullish(),
  }),
  finish_reason: z.string().nullish(),
  stop_reason: z.union([z.string(), z.number()]).nullish(),
  token_ids: numbers.nullish(),
  logprobs: z.looseObject({ content: z.array(logprobSchema).nullish() }).nullish(),
});

export const completionSchema = z.looseObject({
  model: z.string().nullish(),
  choices: z.tuple([choiceSchema]).rest(choiceSchema),
  usage: usageSchema.nullish(),
  prompt_token_ids: numbers.nullish(),
});
export type Completion = z.infer<typeof completionSchema>;

export function readCompletion(completion: Completion): StreamedAnswer {
  const [choice] = completion.choices;
  const { message } = choice;
  const content = message.content ?? "";
  return {
    text: typeof content === "string" ? content : content.map((part) => part.text ?? "").join(""),
    reasoning: message.reasoning_content ?? message.reasoning ?? "",
    toolCalls: (message.tool_calls ?? []).map((call): ToolCall => {
      const id = call.id ?? "";
      if (call.custom != null) return { id, kind: "custom", name: call.custom.name, arguments: call.custom.input };
      const given = call.function?.arguments ?? "";
      return { id, kind: "function", name: call.function?.name ?? "", arguments: typeof given === "string" ? given : JSON.stringify(given) };
    }),
    finishReason: choice.finish_reason == null ? null : readFinishReason(choice.finish_reason),
    usage: completion.usage == null ? null : readUsage(completion.usage),
    model: completion.model ?? null,
    error: undefined,
  };
}
