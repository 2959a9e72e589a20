/** Ids and log-probs of a server's answer, or the reason why there are none: half a record is none. */
import type { Answer, CapturedTokens, FinishReason, Usage } from "../../../engine/conversation/index.ts";

/** Ids are kept in 32 bits. */
const largestId = 2 ** 31 - 1;

export const pastStop = "the answer ends at a stop text, and its ids go on past it";

/** `logprobs`: null = the server gave none; an entry that is null has mask 0 when it is trained. */
export function checkedTokens(
  promptIds: ArrayLike<number> & Iterable<number>,
  sampledIds: readonly number[],
  logprobs: readonly (number | null)[] | null,
): CapturedTokens | string {
  if (logprobs !== null && logprobs.length !== sampledIds.length) return `the server gave ${sampledIds.length} ids and ${logprobs.length} log-probs`;
  const strange = strangeId(promptIds) ?? strangeId(sampledIds);
  if (strange !== undefined) return `the server gave ${strange} as a token id`;
  const tokens = { promptIds: Int32Array.from(promptIds), sampledIds: Int32Array.from(sampledIds) };
  return logprobs === null ? tokens : { ...tokens, logprobs: Float32Array.from(logprobs, (value) => value ?? Number.NaN) };
}

function strangeId(ids: Iterable<number>): number | undefined {
  for (const id of ids) if (!Number.isInteger(id) || id < 0 || id > largestId) return id;
  return undefined;
}

export function withTokens(
  answer: Answer,
  tokens: CapturedTokens | string,
  notes: readonly string[],
): { readonly answer: Answer; readonly notes: readonly string[] } {
  if (typeof tokens === "string") return { answer, notes: [...notes, `This call has no token ids: ${tokens}.`] };
  return { answer: { ...answer, tokens }, notes };
}

/** What a prompt of ids is answered with: plain text. Whoever built the prompt reads the message from the ids. */
export function textAnswer(
  text: string,
  about: { readonly finishReason: FinishReason; readonly usage: Usage; readonly policyVersion: string },
): Answer {
  return { message: { role: "assistant", content: text === "" ? [] : [{ type: "text", text }], toolCalls: [] }, unparsedToolCall: false, ...about };
}
