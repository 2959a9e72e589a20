/**
 * The calls of an attempt as a tree of message keys. A path from the root is a conversation as a harness sends it; a call hangs
 * where its request ends, and its answer is one step further: a later request that passes there goes on from it.
 */
import type { Conversation } from "../conversation/index.ts";
import type { BreakCause } from "../graph/index.ts";
import type { AssembledPrompt } from "./contract.ts";
import { type IdChain, idsOf } from "./id-chain.ts";
import { messageKey, toolsKey } from "./message-keys.ts";

export interface RecordedCall {
  readonly callId: string;
  readonly prompt: IdChain<RecordedCall>;
  readonly sampledIds: Int32Array;
  /** Messages of its request: the answer is the message of this index. */
  readonly messageCount: number;
}

/** A prompt without its ids, and what it goes on from. */
export interface KeptPrompt {
  readonly facts: Omit<AssembledPrompt, "ids">;
  readonly ids: IdChain<RecordedCall>;
}

interface Place {
  readonly next: Map<string, Place>;
  /** The prompt made for the request that ends here. */
  prompt: KeptPrompt | null;
  /** Calls whose answer ends here, oldest first. */
  readonly answered: RecordedCall[];
}

function newPlace(): Place {
  return { next: new Map(), prompt: null, answered: [] };
}

export interface Continuation {
  /** The recorded call that the conversation goes on from; null for none. */
  readonly parent: RecordedCall | null;
  /** The prompt made for exactly this request before; null for none. */
  readonly same: KeptPrompt | null;
  /** Why it goes on from none, where that can be told; null too when nothing was recorded. */
  readonly breakCause: BreakCause | null;
}

export class RecordedCalls {
  readonly #byTools = new Map<string, Place>();
  readonly #continued = new Set<string>();
  #count = 0;

  /** An answer that was delivered. */
  add(conversation: Conversation, answerKey: string, call: Omit<RecordedCall, "prompt"> & { readonly promptIds: Int32Array }): void {
    const place = this.#placeOf(conversation);
    const { promptIds, ...rest } = call;
    const before = place.prompt?.ids.before ?? null;
    step(place, answerKey).answered.push({ ...rest, prompt: sharedWith(before, promptIds) });
    this.#count++;
  }

  /** The prompt that was made for a request. */
  keep(conversation: Conversation, prompt: KeptPrompt): void {
    this.#placeOf(conversation).prompt = prompt;
    if (prompt.ids.before !== null) this.#continued.add(prompt.ids.before.callId);
  }

  /**
   * What a request goes on from. Of equal answers to equal requests it is the oldest that nothing goes on from yet, since two
   * subagents may have said the same; when something goes on from all, a request seen before gets its prompt again.
   */
  find(conversation: Conversation): Continuation {
    const keys = conversation.messages.map(messageKey);
    const tools = toolsKey(conversation.tools);
    const { deepest, end } = walk(this.#byTools.get(tools), keys);
    const candidates = deepest?.answered ?? [];
    const fresh = candidates.find((call) => !this.#continued.has(call.callId)) ?? null;
    const same = fresh === null ? (end?.prompt ?? null) : null;
    const parent = fresh ?? candidates.at(-1) ?? null;
    return { parent, same, breakCause: parent === null && this.#count > 0 ? this.#causeOf(conversation, keys, tools) : null };
  }

  #placeOf(conversation: Conversation): Place {
    const tools = toolsKey(conversation.tools);
    let place = this.#byTools.get(tools) ?? newPlace();
    this.#byTools.set(tools, place);
    for (const message of conversation.messages) place = step(place, messageKey(message));
    return place;
  }

  #causeOf(conversation: Conversation, keys: readonly string[], tools: string): BreakCause | null {
    for (const [other, root] of this.#byTools) {
      const found = walk(root, keys);
      if (other !== tools && (found.deepest !== null || found.end?.prompt != null)) return "tools-changed";
    }
    const firstUser = conversation.messages.findIndex((message) => message.role === "user");
    const { shared, last } = walk(this.#byTools.get(tools), keys);
    if (firstUser < 0 || shared <= firstUser) return null;
    return keys.length <= shared + depthBelow(last) ? "compaction" : "edited-turn";
  }
}

/** How far keys lead from a place: the last place reached, the one at the end of all keys, the deepest where an answer ends. */
function walk(root: Place | undefined, keys: readonly string[]): { deepest: Place | null; end: Place | null; last: Place; shared: number } {
  let place = root ?? newPlace();
  let deepest: Place | null = null;
  for (const [shared, key] of keys.entries()) {
    const next = place.next.get(key);
    if (next === undefined) return { deepest, end: null, last: place, shared };
    place = next;
    if (place.answered.length > 0) deepest = place;
  }
  return { deepest, end: place, last: place, shared: keys.length };
}

function step(place: Place, key: string): Place {
  const known = place.next.get(key);
  if (known !== undefined) return known;
  const made = newPlace();
  place.next.set(key, made);
  return made;
}

/** Length of the longest recorded path below a place. */
function depthBelow(place: Place): number {
  let depth = 0;
  for (let level = [...place.next.values()]; level.length > 0; level = level.flatMap((each) => [...each.next.values()])) depth++;
  return depth;
}

/** The ids as what they add to a call's, where they begin with those. */
function sharedWith(before: RecordedCall | null, ids: Int32Array): IdChain<RecordedCall> {
  const shared = before === null ? null : idsOf({ before, added: new Int32Array(0) });
  const isShared = shared !== null && shared.length <= ids.length && shared.every((id, index) => ids[index] === id);
  return isShared ? { before, added: ids.slice(shared.length) } : { before: null, added: ids };
}
