/** Reads back an answer of this dialect: what we wrote, or what a server that speaks it answered. */
import { z } from "zod";
import type { Answer, FinishReason, ToolCall } from "../../../../engine/conversation/index.ts";
import { canonicalJson, sliceJson } from "../../../../engine/json/index.ts";
import { stopReasons } from "./blocks.ts";
import { joinStream } from "./read-stream.ts";

type ReadAnswer = Pick<Answer, "message" | "finishReason" | "usage">;

const usageSchema = z.looseObject({
  input_tokens: z.number().nullish(),
  output_tokens: z.number().nullish(),
  cache_read_input_tokens: z.number().nullish(),
  cache_creation_input_tokens: z.number().nullish(),
});
const messageSchema = z.looseObject({
  type: z.literal("message"),
  content: z.array(
    z.looseObject({
      type: z.string(),
      text: z.string().optional(),
      thinking: z.string().optional(),
      id: z.string().optional(),
      name: z.string().optional(),
    }),
  ),
  stop_reason: z.string(),
  usage: usageSchema,
});

/** null when the text is no whole answer. Throws JsonSyntaxError or SyntaxError for text that is no JSON. */
export function readMessagesAnswer(text: string, stream: boolean): ReadAnswer | null {
  const body = stream ? joinStream(text).body : text;
  if (body === null) return null;
  const parsed = messageSchema.safeParse(JSON.parse(body));
  if (!parsed.success) return null;
  const { content, stop_reason: reason, usage } = parsed.data;
  const blocks = sliceJson(body).entries().get("content")?.items() ?? [];
  const join = (type: "text" | "thinking"): string => content.map((block) => (block.type === type ? (block[type] ?? "") : "")).join("");
  const reasoning = join("thinking");
  const said = join("text");
  const toolCalls = content.flatMap((block, index): ToolCall[] => {
    if (block.type !== "tool_use") return [];
    const input = blocks[index]?.entries().get("input")?.text ?? "{}";
    return [{ id: block.id ?? "", kind: "function", name: block.name ?? "", arguments: canonicalJson(input) }];
  });
  const cached = usage.cache_read_input_tokens ?? 0;
  return {
    message: {
      role: "assistant",
      content: said === "" ? [] : [{ type: "text", text: said }],
      ...(reasoning === "" ? {} : { reasoning }),
      toolCalls,
    },
    finishReason: finishReasonOf(reason),
    usage: {
      promptTokens: (usage.input_tokens ?? 0) + cached + (usage.cache_creation_input_tokens ?? 0),
      completionTokens: usage.output_tokens ?? 0,
      ...(cached === 0 ? {} : { cachedTokens: cached }),
    },
  };
}

function finishReasonOf(reason: string): FinishReason {
  const known = Object.entries(stopReasons).find(([, word]) => word === reason);
  return (known?.[0] as FinishReason | undefined) ?? "stop";
}
