/** Reads back an answer of this dialect. */
import { z } from "zod";
import type { Answer, FinishReason, ToolCall } from "../../../../engine/conversation/index.ts";
import { canonicalJson, type JsonSlice, sliceJson } from "../../../../engine/json/index.ts";
import { readSse } from "../../streams/sse.ts";
import { finishWords } from "./encode.ts";

const chunkSchema = z.looseObject({
  candidates: z
    .array(
      z.looseObject({
        content: z.looseObject({
          parts: z
            .array(
              z.looseObject({
                text: z.string().optional(),
                thought: z.boolean().optional(),
                functionCall: z.looseObject({ id: z.string().optional(), name: z.string() }).optional(),
              }),
            )
            .default([]),
        }),
        finishReason: z.string().optional(),
      }),
    )
    .min(1),
  usageMetadata: z
    .looseObject({
      promptTokenCount: z.number().optional(),
      candidatesTokenCount: z.number().optional(),
      cachedContentTokenCount: z.number().optional(),
    })
    .optional(),
});

/** null when the text is no whole answer. */
export function readGeminiAnswer(text: string, stream: boolean): Pick<Answer, "message" | "finishReason" | "usage"> | null {
  const whole = sliceWhole(text, stream);
  let reasoning = "";
  let said = "";
  const toolCalls: ToolCall[] = [];
  let finish: string | undefined;
  let usage: z.infer<typeof chunkSchema>["usageMetadata"];
  for (const slice of whole) {
    const parsed = chunkSchema.safeParse(JSON.parse(slice.text));
    const candidate = parsed.data?.candidates[0];
    if (candidate === undefined) return null;
    const parts = slice.entries().get("candidates")?.items()[0]?.entries().get("content")?.entries().get("parts")?.items() ?? [];
    candidate.content.parts.forEach((part, index) => {
      if (part.thought === true) reasoning += part.text ?? "";
      else said += part.text ?? "";
      if (part.functionCall === undefined) return;
      const args = parts[index]?.entries().get("functionCall")?.entries().get("args")?.text ?? "{}";
      toolCalls.push({ id: part.functionCall.id ?? "", kind: "function", name: part.functionCall.name, arguments: canonicalJson(args) });
    });
    finish = candidate.finishReason ?? finish;
    usage = parsed.data?.usageMetadata ?? usage;
  }
  if (finish === undefined) return null;
  const cached = usage?.cachedContentTokenCount;
  return {
    message: {
      role: "assistant",
      content: said === "" ? [] : [{ type: "text", text: said }],
      ...(reasoning === "" ? {} : { reasoning }),
      toolCalls,
    },
    finishReason: finishReasonOf(finish, toolCalls.length > 0),
    usage: {
      promptTokens: usage?.promptTokenCount ?? 0,
      completionTokens: usage?.candidatesTokenCount ?? 0,
      ...(cached === undefined ? {} : { cachedTokens: cached }),
    },
  };
}

function sliceWhole(text: string, stream: boolean): readonly JsonSlice[] {
  if (stream) return readSse(text).map(({ data }) => sliceJson(data));
  const slice = sliceJson(text);
  return slice.kind === "array" ? slice.items() : [slice];
}

function finishReasonOf(word: string, hasCalls: boolean): FinishReason {
  if (word === finishWords.stop) return hasCalls ? "tool-calls" : "stop";
  return word === finishWords.length ? "length" : "content-filter";
}
