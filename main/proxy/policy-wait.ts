/**
 * Tells when calls wait for their policy before it begins to answer: between tries, and, where the policy says how long it kept a request
 * in its queue, there. That is known only when the answer comes: until then the whole try counts as waiting, and the rest is charged.
 */
import type { Clock, PolicyWaitListener } from "./contract.ts";

export interface PolicyWait {
  listen(listener: PolicyWaitListener): void;
  /** The policy is asked. */
  asked(call: number): void;
  /** It answered, or failed; `queueMs` = how long it kept the request waiting. */
  answered(call: number, queueMs: number): void;
  /** The call waits for something that is not the policy's work: its next try, a person. */
  held(call: number): void;
  /** Nothing more will happen to this call. */
  over(call: number): void;
}

export function createPolicyWait(clock: Pick<Clock, "now">, reportsQueue: boolean): PolicyWait {
  const waiting = new Map<number, number>();
  let listener: PolicyWaitListener | null = null;

  function begin(call: number): void {
    if (waiting.has(call) || listener === null) return;
    waiting.set(call, clock.now());
    listener.waitBegins();
  }

  /** `workMs` of a wait that began at `since` was none. */
  function end(call: number, workMs: (since: number) => number): void {
    const since = waiting.get(call);
    if (since === undefined) return;
    waiting.delete(call);
    listener?.waitEnds(workMs(since));
  }

  return {
    listen(given) {
      listener = given;
    },
    asked(call) {
      end(call, () => 0);
      if (reportsQueue) begin(call);
    },
    answered: (call, queueMs) => end(call, (since) => Math.max(0, clock.now() - since - queueMs)),
    held: begin,
    over: (call) => end(call, () => 0),
  };
}
