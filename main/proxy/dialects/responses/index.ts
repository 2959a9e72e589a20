import { z } from "zod";
import type { Answer, AssistantMessage, FinishReason, ToolCall } from "../../../../engine/conversation/index.ts";
import { readSse } from "../../streams/sse.ts";
import { type Dialect, openAiErrorBody } from "../dialect.ts";
import { decodeResponses } from "./decode.ts";
import { openResponsesAnswer, responsesAnswerBody, responsesAnswerStream, responsesErrorStream } from "./encode.ts";

export const responsesDialect: Dialect = {
  id: "responses",
  list: "input",
  decode: decodeResponses,
  answerBody: responsesAnswerBody,
  answerStream: responsesAnswerStream,
  openAnswer: openResponsesAnswer,
  errorBody: openAiErrorBody,
  errorStream: responsesErrorStream,
  readAnswer: readResponsesAnswer,
};

const textPart = z.looseObject({ text: z.string() });
const responseSchema = z.looseObject({
  status: z.enum(["completed", "incomplete"]),
  incomplete_details: z.looseObject({ reason: z.string() }).nullable(),
  output: z.array(
    z.discriminatedUnion("type", [
      z.looseObject({ type: z.literal("reasoning"), content: z.array(textPart) }),
      z.looseObject({ type: z.literal("message"), content: z.array(textPart) }),
      z.looseObject({
        type: z.literal("function_call"),
        call_id: z.string(),
        name: z.string(),
        namespace: z.string().optional(),
        arguments: z.string(),
      }),
      z.looseObject({
        type: z.literal("custom_tool_call"),
        call_id: z.string(),
        name: z.string(),
        namespace: z.string().optional(),
        input: z.string(),
      }),
    ]),
  ),
  usage: z.looseObject({
    input_tokens: z.number(),
    output_tokens: z.number(),
    input_tokens_details: z.looseObject({ cached_tokens: z.number() }),
  }),
});
type Response = z.infer<typeof responseSchema>;

function readResponsesAnswer(text: string, stream: boolean): Pick<Answer, "message" | "finishReason" | "usage"> | null {
  const last = stream ? readSse(text).findLast((event) => event.event === "response.completed" || event.event === "response.incomplete") : undefined;
  if (stream && last === undefined) return null;
  const json: unknown = last === undefined ? JSON.parse(text) : z.object({ response: z.unknown() }).parse(JSON.parse(last.data)).response;
  const parsed = responseSchema.safeParse(json);
  if (!parsed.success) return null;
  const message = readOutput(parsed.data.output);
  const { input_tokens: promptTokens, output_tokens: completionTokens, input_tokens_details: details } = parsed.data.usage;
  const cached = details.cached_tokens === 0 ? {} : { cachedTokens: details.cached_tokens };
  return { message, finishReason: finishReasonOf(parsed.data, message), usage: { promptTokens, completionTokens, ...cached } };
}

function readOutput(output: Response["output"]): AssistantMessage {
  const textOf = (type: "reasoning" | "message"): string =>
    output.flatMap((item) => (item.type === type ? item.content.map((part) => part.text) : [])).join("");
  const reasoning = textOf("reasoning");
  const content = textOf("message");
  return {
    role: "assistant",
    content: content === "" ? [] : [{ type: "text", text: content }],
    ...(reasoning === "" ? {} : { reasoning }),
    toolCalls: output.flatMap(readCallItem),
  };
}

function readCallItem(item: Response["output"][number]): readonly ToolCall[] {
  if (item.type !== "function_call" && item.type !== "custom_tool_call") return [];
  const place = { id: item.call_id, name: item.name, ...(item.namespace === undefined ? {} : { namespace: item.namespace }) };
  return [
    item.type === "function_call" ? { ...place, kind: "function", arguments: item.arguments } : { ...place, kind: "custom", arguments: item.input },
  ];
}

function finishReasonOf(response: Response, message: AssistantMessage): FinishReason {
  if (response.status === "incomplete") return response.incomplete_details?.reason === "content_filter" ? "content-filter" : "length";
  return message.toolCalls.length > 0 ? "tool-calls" : "stop";
}
