/** What a person says that the policy should have answered. Kept as events, so that the record of what happened stays as it was. */
import { z } from "zod";
import type { Store } from "../store/index.ts";

const eventType = "call.corrected";
const payloadSchema = z.object({ call: z.string(), text: z.string() });
const page = 1000;

export function recordCorrection(store: Store, rollout: { readonly id: string; readonly experimentId: string }, call: string, text: string): void {
  const payload = JSON.stringify({ call, text });
  store.appendEvent({ at: Date.now(), experimentId: rollout.experimentId, rolloutId: rollout.id, type: eventType, payload });
}

/** By call id; the last word on each counts. */
export function correctionsOf(store: Store, rolloutId: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  let after = 0;
  for (;;) {
    const events = store.eventsAfter(after, page, { rolloutId });
    for (const event of events) {
      after = event.sequence;
      if (event.type !== eventType) continue;
      const { call, text } = payloadSchema.parse(JSON.parse(event.payload));
      if (text === "") found.delete(call);
      else found.set(call, text);
    }
    if (events.length < page) return found;
  }
}
