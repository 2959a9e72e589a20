/**
 * What was said in a rollout, call by call. A call that goes on from another (its parent on its chain) repeats what that one held;
 * `known` says how many messages, so that a reader can take each message once.
 */
import type { Answer, Message, ToolDefinition } from "../../engine/conversation/index.ts";
import { readCall } from "../proxy/index.ts";
import { type CallRecord, isModelCall, type Store } from "../store/index.ts";
import type { Trajectories } from "./contract.ts";

type ToolMessage = Extract<Message, { role: "tool" }>;

export interface TranscriptCall {
  readonly call: CallRecord;
  /** Chain that owns the call; null when its answer never counted (aborted and not gone on from). */
  readonly chain: number | null;
  /** Index of the call that this one goes on from; null at the root of a chain. */
  readonly parent: number | null;
  /** Of the request; empty when the body is no request of its dialect. */
  readonly messages: readonly Message[];
  /** How many messages at the start the parent's request and answer held. */
  readonly known: number;
  readonly tools: readonly ToolDefinition[];
  readonly answer: Pick<Answer, "message" | "finishReason" | "usage"> | null;
  /** What came back for each tool call of the answer; null where nothing ever did. */
  readonly results: readonly (ToolMessage | null)[];
}

/** The model calls of a rollout's last attempt, by index. Reads every body once. */
export function readTranscript(store: Store, rolloutId: string, trajectories: Trajectories): readonly TranscriptCall[] {
  const parents = parentsOf(trajectories);
  const read = new Map<number, TranscriptCall>();
  for (const call of store.callsOf(rolloutId).filter(isModelCall)) {
    const { conversation, answer } = readCall(store, call);
    const messages = conversation?.messages ?? [];
    const chain = trajectories.chainOfCall.get(call.index) ?? null;
    const parent = parents.get(call.index) ?? null;
    const before = parent === null ? undefined : read.get(parent);
    const known = before === undefined ? 0 : knownMessages(messages, before);
    read.set(call.index, { call, chain, parent, messages, known, tools: conversation?.tools ?? [], answer, results: [] });
  }
  const calls = [...read.values()];
  return calls.map((said) => ({ ...said, results: resultsFor(said, calls) }));
}

/** The neighbour before a call on the path of the chain that owns it. */
function parentsOf(trajectories: Trajectories): ReadonlyMap<number, number> {
  const parents = new Map<number, number>();
  for (const { calls, owned } of trajectories.chains) {
    for (let at = calls.length - owned; at < calls.length; at++) {
      const call = calls[at];
      const before = calls[at - 1];
      if (call !== undefined && before !== undefined) parents.set(call, before);
    }
  }
  return parents;
}

/** The parent's request and, where it stands next, its answer. */
function knownMessages(messages: readonly Message[], parent: TranscriptCall): number {
  const requested = Math.min(parent.messages.length, messages.length);
  return parent.answer !== null && messages[requested]?.role === "assistant" ? requested + 1 : requested;
}

/** By id; else, since some harnesses rewrite ids, by order where a call that goes on has one result for each. */
function resultsFor(said: TranscriptCall, calls: readonly TranscriptCall[]): readonly (ToolMessage | null)[] {
  const made = said.answer?.message.toolCalls ?? [];
  if (made.length === 0) return [];
  const later = calls.filter(({ call }) => call.index > said.call.index);
  const children = later.filter(({ parent }) => parent === said.call.index);
  for (const { messages, known } of children) {
    const results = leadingResults(messages.slice(known));
    if (results.length === made.length)
      return made.map((call, at) => results.find(({ toolCallId }) => toolCallId === call.id) ?? results[at] ?? null);
  }
  return made.map(({ id }) => resultWithId(later, id));
}

function leadingResults(messages: readonly Message[]): readonly ToolMessage[] {
  const end = messages.findIndex(({ role }) => role !== "tool");
  return messages.slice(0, end < 0 ? messages.length : end).flatMap((message) => (message.role === "tool" ? [message] : []));
}

function resultWithId(calls: readonly TranscriptCall[], id: string): ToolMessage | null {
  for (const { messages } of calls) {
    for (const message of messages) if (message.role === "tool" && message.toolCallId === id) return message;
  }
  return null;
}
