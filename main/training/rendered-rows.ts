/**
 * What a teacher said as rows of the policy that learns from it: the teacher's tokens are of another vocabulary, or not known at all. Each answer is
 * written by the policy's own chat template; what the template writes of an answer must go on from the prompt that it wrote before, else the answer is
 * left out. Only for supervised learning: these are not tokens that the policy sampled.
 */
import type { AssistantMessage, Conversation } from "../../engine/conversation/index.ts";
import type { PromptBuilder } from "../../engine/prompts/index.ts";
import { readCall } from "../proxy/index.ts";
import type { CallRecord, Store } from "../store/index.ts";
import type { ChainRow } from "./batch.ts";

/** What a person says that the teacher should have answered, by call; `only`: nothing else of the rollout is learnt. */
export interface Corrected {
  readonly corrections: ReadonlyMap<string, string>;
  readonly only: boolean;
}

const uncorrected: Corrected = { corrections: new Map(), only: false };

export function renderedRows(
  store: Store,
  rolloutId: string,
  builder: PromptBuilder,
  { corrections, only }: Corrected = uncorrected,
): readonly ChainRow[] {
  const history = builder.history();
  const now = new Date(0);
  const rows: { ids: number[]; mask: number[] }[] = [];
  for (const call of store.callsOf(rolloutId).filter((each) => each.side === null && isDelivered(each))) {
    const { conversation, answer } = readCall(store, call);
    if (conversation === null || answer === null) continue;
    const correction = corrections.get(call.id);
    const message = correction === undefined ? answer.message : correctedMessage(correction);
    const learnt = !only || correction !== undefined;
    const promptIds = history.assemble(conversation, { mode: "as-sampled", now }).ids;
    const sampledIds = answerIds(builder, { ...conversation, messages: [...conversation.messages, message] }, conversation, now);
    if (sampledIds === null) continue;
    history.record({ callId: call.id, conversation, promptIds, sampledIds, message });
    const row = rows.find(({ ids }) => ids.length <= promptIds.length && ids.every((id, at) => promptIds[at] === id));
    if (row === undefined) rows.push({ ids: [...promptIds, ...sampledIds], mask: [...zeros(promptIds.length), ...marks(sampledIds.length, learnt)] });
    else {
      row.mask.push(...zeros(promptIds.length - row.ids.length), ...marks(sampledIds.length, learnt));
      row.ids = [...promptIds, ...sampledIds];
    }
  }
  return rows.map(({ ids, mask }, chain) => ({
    ...{ rollout: rolloutId, chain, ids: Int32Array.from(ids), mask: Uint8Array.from(mask) },
    logprobs: new Float32Array(ids.length).fill(Number.NaN),
  }));
}

function isDelivered({ status, aborted, replays, quarantined, late, unparsedToolCall }: CallRecord): boolean {
  return status === "ok" && quarantined === null && !late && !unparsedToolCall && (!aborted || replays > 0);
}

/** Ids of the answer, its end token included; null when the template does not write it after the prompt. */
function answerIds(builder: PromptBuilder, answered: Conversation, asked: Conversation, now: Date): Int32Array | null {
  const [before, whole] = [asked, answered].map((conversation) => builder.history().assemble(conversation, { mode: "as-template", now }).ids);
  if (before === undefined || whole === undefined || !before.every((id, at) => whole[at] === id)) return null;
  const end = whole.findIndex((id, at) => at >= before.length && builder.endIds.includes(id));
  return end < 0 ? null : whole.slice(before.length, end + 1);
}

function zeros(count: number): readonly number[] {
  return Array.from({ length: count }, () => 0);
}

function marks(count: number, learnt: boolean): readonly number[] {
  return Array.from({ length: count }, () => (learnt ? 1 : 0));
}

function correctedMessage(text: string): AssistantMessage {
  return { role: "assistant", content: [{ type: "text", text }], toolCalls: [] };
}
