/** POST /v1/chat/completions: read by the chat dialect, rendered by the policy's own template, answered with ids when asked for. */
import { z } from "zod";
import type { Answer, Conversation } from "../../../engine/conversation/index.ts";
import { chatDialect } from "../dialects/chat/index.ts";
import { type AnswerContext, invalidRequest } from "../dialects/dialect.ts";
import { firstIssue } from "../dialects/zod-issue.ts";
import { readSse, sseText } from "../streams/sse.ts";
import type { ReadRequest, ServedPolicy } from "./contract.ts";
import { endIdsOf, readRequest, tokenFieldsSchema } from "./request-fields.ts";
import { SpokenChat } from "./spoken-chat.ts";

const fieldsSchema = tokenFieldsSchema.extend({ logprobs: z.boolean().nullish() });

const noMedia = { put: () => "" as never, get: () => null };

export function readChat(bytes: Uint8Array, { name, text }: ServedPolicy): ReadRequest {
  const read = readRequest(bytes, chatDialect.list, name);
  if (!read.ok) return read;
  const fields = fieldsSchema.safeParse(read.body.value);
  if (!fields.success) return invalidRequest(`This is no Chat Completions request: ${firstIssue(fields.error)}.`);
  const decoded = chatDialect.decode(read.body, noMedia, "/v1/chat/completions");
  if (!decoded.ok) return decoded;
  const { conversation, reply } = decoded;
  const problem = problemOf(conversation);
  if (problem !== null) return invalidRequest(problem, "unsupported_parameter");
  const asked = { ids: fields.data.return_token_ids === true, logprobs: fields.data.logprobs === true };
  return {
    ok: true,
    stream: reply.stream,
    ask: { conversation: withoutTools(conversation), endIds: endIdsOf(fields.data, text.builder.endIds) },
    voice: (callId) => {
      const context: AnswerContext = { callId, reply: { ...reply, model: name }, createdAt: Math.floor(Date.now() / 1000) };
      const spoken = new SpokenChat(context);
      return {
        follow: ({ reasoningOpened }) => {
          const deltasOf = text.builder.followAnswer({ conversation: withoutTools(conversation), reasoningOpened });
          return (id) => spoken.events(deltasOf(id));
        },
        say: (answer) => ({
          body: () => withTokens(chatDialect.answerBody(answer, context), answer, asked, text),
          stream: () => streamWithTokens(spoken.rest(answer), answer, asked, text),
        }),
      };
    },
  };
}

function problemOf({ messages, toolChoice }: Conversation): string | null {
  if (typeof toolChoice === "object" || toolChoice === "required")
    return "A call of a tool cannot be forced here: let `tool_choice` be auto or none.";
  const hasMedia = messages.some(
    (message) => message.role !== "other" && message.content.some((part) => part.type === "image" || part.type === "file"),
  );
  return hasMedia ? "This policy reads text only: leave out images and files." : null;
}

/** `tool_choice: none` means that the policy is not told of them. */
function withoutTools(conversation: Conversation): Conversation {
  return conversation.toolChoice === "none" ? { ...conversation, tools: [] } : conversation;
}

interface Asked {
  readonly ids: boolean;
  readonly logprobs: boolean;
}

type Text = ServedPolicy["text"];

/** Members of the whole answer and of its choice. */
function tokenMembers({ tokens }: Answer, asked: Asked, { tokenizer }: Text): { readonly root: object; readonly choice: object } {
  if (tokens === undefined) return { root: {}, choice: {} };
  const { promptIds, sampledIds, logprobs } = tokens;
  const pieces = asked.logprobs ? tokenizer.decodePieces(sampledIds) : [];
  const content = pieces.map((token, index) => ({ token, logprob: logprobs?.[index] ?? null, bytes: [...Buffer.from(token)], top_logprobs: [] }));
  return {
    root: asked.ids ? { prompt_token_ids: [...promptIds] } : {},
    choice: { ...(asked.logprobs ? { logprobs: { content } } : {}), ...(asked.ids ? { token_ids: [...sampledIds] } : {}) },
  };
}

function withTokens(body: string, answer: Answer, asked: Asked, text: Text): string {
  const { root, choice } = tokenMembers(answer, asked, text);
  const whole = JSON.parse(body) as { choices: [object] };
  return JSON.stringify({ ...whole, system_fingerprint: answer.policyVersion, choices: [{ ...whole.choices[0], ...choice }], ...root });
}

/** The chunk that ends the answer carries its ids: what they spell was streamed before. */
function streamWithTokens(stream: string, answer: Answer, asked: Asked, text: Text): string {
  if (!asked.ids && !asked.logprobs) return stream;
  const { root, choice } = tokenMembers(answer, asked, text);
  return readSse(stream)
    .map(({ data }) => {
      if (data === "[DONE]") return sseText({ event: "", data });
      const chunk = JSON.parse(data) as { choices: { finish_reason: string | null }[] };
      const last = chunk.choices[0];
      if (last == null || last.finish_reason === null) return sseText({ event: "", data });
      return sseText({ event: "", data: JSON.stringify({ ...chunk, choices: [{ ...last, ...choice }], ...root }) });
    })
    .join("");
}
