/**
 * Why a call does not continue an earlier chain. What the prompt assembly recorded is taken as it is. Otherwise the messages
 * tell: a conversation that goes on as before was broken by what turns messages into ids (tools, template, tokenizer); one
 * that does not was changed by the harness (compaction, an edited turn) or is another one (a subagent).
 */
import type { BreakCause, GraphCall } from "./contract.ts";
import { goesOnFrom, predecessorOf } from "./message-prefix.ts";

export interface BreakContext {
  /** All calls that are on some chain, in order of index. */
  readonly calls: readonly GraphCall[];
  /** The call that the new chain branches off from; null when it begins with nothing recorded. */
  readonly parent: GraphCall | null;
  /** Whether the text of an earlier call's ids is where the call's prompt begins; null when that cannot be told. */
  readonly sameText: (earlier: GraphCall, call: GraphCall) => boolean | null;
}

/** Null when there is nothing before the call that it could have continued. */
export function breakCauseOf(call: GraphCall, { calls, parent, sameText }: BreakContext): BreakCause | null {
  const earlier = calls.filter((other) => other.index < call.index);
  if (earlier.length === 0) return null;
  if (call.recordedBreak !== null) return call.recordedBreak;
  if (call.thread !== null && !earlier.some((other) => other.thread === call.thread)) return "subagent";
  const sameThread = call.thread === null ? earlier : earlier.filter((other) => other.thread === call.thread);
  const predecessor = predecessorOf(call, sameThread);
  if (call.messages.length === 0) return parent === null ? "template" : "branch";
  if (predecessor === null) return call.thread !== null || !linesGoOn(calls, call) ? "compaction" : "subagent";
  const before = predecessor.call;
  if (goesOnFrom(call, before)) {
    if (before.id === parent?.id) return "branch";
    if (toolsDiffer(call, before)) return "tools-changed";
    return sameText(before, call) === true ? "re-tokenisation" : "template";
  }
  return changedConversation(call, before, predecessor.shared, calls);
}

function changedConversation(call: GraphCall, before: GraphCall, shared: number, calls: readonly GraphCall[]): BreakCause {
  const firstUser = call.messages.findIndex((message) => message.role === "user");
  const sharesFirstUser = firstUser >= 0 && firstUser < shared;
  if (shared === call.messages.length && shared === before.messages.length) return toolsDiffer(call, before) ? "tools-changed" : "branch";
  if (!sharesFirstUser && call.thread === null && linesGoOn(calls, call)) return "subagent";
  if (!sharesFirstUser) return "compaction";
  return call.messages.length <= before.messages.length ? "compaction" : "edited-turn";
}

/** Some conversation from before the call goes on after it, so the call did not take its place. */
function linesGoOn(calls: readonly GraphCall[], call: GraphCall): boolean {
  return calls.some((later) => later.index > call.index && calls.some((earlier) => earlier.index < call.index && goesOnFrom(later, earlier)));
}

function toolsDiffer(left: GraphCall, right: GraphCall): boolean {
  return left.tools !== null && right.tools !== null && left.tools !== right.tools;
}
