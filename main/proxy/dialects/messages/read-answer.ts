/** Reads back an answer of this dialect: what we wrote, or what a server that speaks it answered. */
import { z } from "zod";
import type { Answer, FinishReason, ToolCall } from "../../../../engine/conversation/index.ts";
import { canonicalJson, sliceJson } from "../../../../engine/json/index.ts";
import { readSse } from "../../streams/sse.ts";
import { stopReasons } from "./blocks.ts";

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
  const body = stream ? joinStream(text) : text;
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

const eventSchema = z.looseObject({
  type: z.string(),
  index: z.number().optional(),
  message: z.looseObject({ usage: usageSchema }).optional(),
  content_block: z.looseObject({ type: z.string() }).optional(),
  delta: z
    .looseObject({
      type: z.string().optional(),
      text: z.string().optional(),
      thinking: z.string().optional(),
      partial_json: z.string().optional(),
      stop_reason: z.string().nullish(),
    })
    .optional(),
  usage: usageSchema.optional(),
});

interface OpenBlock {
  readonly head: Readonly<Record<string, unknown>>;
  text: string;
  json: string;
}

/** The events of a whole stream as the one body they stand for; null when it does not end. */
function joinStream(text: string): string | null {
  const blocks: OpenBlock[] = [];
  let usage: Readonly<Record<string, unknown>> = {};
  let reason: string | null = null;
  let ended = false;
  for (const { data } of readSse(text)) {
    const parsed = eventSchema.safeParse(JSON.parse(data));
    if (!parsed.success) return null;
    const event = parsed.data;
    usage = { ...usage, ...event.message?.usage, ...event.usage };
    if (event.type === "content_block_start" && event.content_block !== undefined) blocks.push({ head: event.content_block, text: "", json: "" });
    const open = blocks.at(-1);
    if (event.type === "content_block_delta" && open !== undefined) {
      open.text += event.delta?.text ?? event.delta?.thinking ?? "";
      open.json += event.delta?.partial_json ?? "";
    }
    reason = event.delta?.stop_reason ?? reason;
    ended ||= event.type === "message_stop";
  }
  if (!ended || reason === null) return null;
  const content = blocks.map(({ head, text: said, json }) => {
    if (head.type !== "tool_use") return JSON.stringify({ ...head, [head.type === "thinking" ? "thinking" : "text"]: said });
    const { input: _input, ...rest } = head;
    return `${JSON.stringify(rest).slice(0, -1)},"input":${json === "" ? "{}" : json}}`;
  });
  return `{"type":"message","content":[${content.join(",")}],"stop_reason":${JSON.stringify(reason)},"usage":${JSON.stringify(usage)}}`;
}
