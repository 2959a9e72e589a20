/** One try at the policy: the conversation is fitted to it, and its answer fitted to the harness. */
import type { Conversation } from "../../engine/conversation/index.ts";
import { completeAnswer } from "./answer-form.ts";
import type { CallEntry } from "./call-entry.ts";
import type { SessionOptions } from "./contract.ts";
import type { TokenIn } from "./token-in.ts";
import { nameAsHarness, showPlainTools } from "./tool-names.ts";
import type { UpstreamResult } from "./upstreams/upstream.ts";

export interface AskOptions extends Pick<SessionOptions, "upstream" | "rolloutId" | "attempt" | "labels" | "maxTokens" | "seed"> {
  readonly tokenIn: TokenIn | null;
}

export async function askPolicy(entry: CallEntry, asked: Conversation, options: AskOptions): Promise<UpstreamResult> {
  const { tokenIn, upstream, rolloutId } = options;
  const plain = clampTokens(showPlainTools(asked), options.maxTokens);
  if (tokenIn !== null && entry.prepared === null) {
    entry.prepared = tokenIn.prepare(plain, entry.startedAt);
    if (entry.prepared.ok) entry.notes.push(...entry.prepared.notes);
  }
  const prepared = entry.prepared;
  if (prepared !== null && !prepared.ok) return prepared;
  const conversation = prepared?.conversation ?? plain;
  const result = await upstream.complete(
    {
      conversation,
      ...(entry.asWritten === null || conversation.messages !== entry.conversation?.messages ? {} : { asWritten: entry.asWritten }),
      ...(prepared === null || tokenIn === null ? {} : { promptIds: prepared.prompt.ids, endIds: tokenIn.endIds }),
      rolloutId,
      attempt: options.attempt,
      callIndex: entry.number,
      ...(entry.said === null ? {} : { onSaid: entry.said.say }),
      ...(options.seed === undefined ? {} : { seed: options.seed }),
      labels: { dialect: entry.dialect.id, ...options.labels },
    },
    entry.abort.signal,
  );
  if (result.exchange !== undefined) entry.exchange = result.exchange;
  if (!result.ok) return result;
  entry.notes.push(...(result.notes ?? []));
  const read =
    prepared === null || tokenIn === null
      ? { ok: true as const, answer: result.answer }
      : tokenIn.read(result.answer, prepared.prompt, conversation, entry.id);
  if (!read.ok) return { ...result, ...read };
  const answer = completeAnswer(read.answer, entry.id);
  return { ...result, answer: { ...answer, message: nameAsHarness(answer.message, asked.tools) } };
}

function clampTokens(conversation: Conversation, most: number | undefined): Conversation {
  const asked = conversation.sampling.maxTokens;
  if (most === undefined || (asked !== undefined && asked <= most)) return conversation;
  return { ...conversation, sampling: { ...conversation.sampling, maxTokens: most } };
}
