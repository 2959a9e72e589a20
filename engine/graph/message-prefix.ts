/** Which earlier call a call goes on from, told by its messages alone. */
import type { GraphCall, MessageKey } from "./contract.ts";

export interface Predecessor {
  readonly call: GraphCall;
  /** Messages of the request that both begin with. */
  readonly shared: number;
}

/** Whether `next` begins with all that `earlier` asked and was answered. An unknown answer may be any assistant message. */
export function goesOnFrom(next: GraphCall, earlier: GraphCall): boolean {
  const asked = earlier.messages.length;
  if (asked === 0 || next.messages.length <= asked || sharedBeginning(next.messages, earlier.messages) < asked) return false;
  const answer = next.messages[asked];
  return answer?.role === "assistant" && (earlier.answer === null || answer.key === earlier.answer);
}

function sharedBeginning(left: readonly MessageKey[], right: readonly MessageKey[]): number {
  let shared = 0;
  while (shared < left.length && shared < right.length && left[shared]?.key === right[shared]?.key && left[shared]?.role === right[shared]?.role)
    shared++;
  return shared;
}

/** The call that `next` most probably follows: what it goes on from, else what it shares most with; the latest of equals. */
export function predecessorOf(next: GraphCall, earlier: readonly GraphCall[]): Predecessor | null {
  let best: Predecessor | null = null;
  let bestGoesOn = false;
  for (const call of earlier) {
    const shared = sharedBeginning(next.messages, call.messages);
    if (shared === 0) continue;
    const goesOn = goesOnFrom(next, call);
    if (best === null || (goesOn && !bestGoesOn) || (goesOn === bestGoesOn && shared >= best.shared)) {
      best = { call, shared };
      bestGoesOn = goesOn;
    }
  }
  return best;
}
