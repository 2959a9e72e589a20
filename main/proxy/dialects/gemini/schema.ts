/** What the proxy relies on in a Gemini generateContent request. Everything else passes unchecked and unchanged. */
import { z } from "zod";

const optional = <T extends z.ZodType>(type: T) => type.nullish();

const media = z.looseObject({ mimeType: optional(z.string()), data: optional(z.string()), fileUri: optional(z.string()) });
const part = z.looseObject({
  text: optional(z.string()),
  thought: optional(z.boolean()),
  thoughtSignature: optional(z.string()),
  functionCall: optional(z.looseObject({ id: optional(z.string()), name: z.string() })),
  functionResponse: optional(z.looseObject({ id: optional(z.string()), name: z.string(), response: z.unknown() })),
  inlineData: optional(media),
  fileData: optional(media),
});
const content = z.looseObject({ role: optional(z.string()), parts: optional(z.array(part)) });

export const geminiRequestSchema = z.looseObject({
  contents: z.array(content),
  systemInstruction: optional(z.union([content, z.string()])),
  tools: optional(z.array(z.looseObject({ functionDeclarations: optional(z.array(z.looseObject({}))) }))),
  toolConfig: optional(
    z.looseObject({
      functionCallingConfig: optional(z.looseObject({ mode: optional(z.string()), allowedFunctionNames: optional(z.array(z.string())) })),
    }),
  ),
  generationConfig: optional(
    z.looseObject({
      temperature: optional(z.number()),
      topP: optional(z.number()),
      topK: optional(z.number()),
      maxOutputTokens: optional(z.number().int().positive()),
      stopSequences: optional(z.array(z.string())),
      seed: optional(z.number().int()),
      candidateCount: optional(z.number().int().min(1).max(1, "one answer a call is recorded; ask again for another")),
    }),
  ),
});

export type GeminiContent = z.infer<typeof content>;
export type GeminiPart = z.infer<typeof part>;
export type GeminiRequest = z.infer<typeof geminiRequestSchema>;

/** Members that have a place of their own in the internal form; the others are kept as `extra`, the whole of `generationConfig` too. */
export const geminiMembers: ReadonlySet<string> = new Set(["contents", "systemInstruction", "tools", "toolConfig"]);
