/** Lines of a rollout's log as they stand in its events. */
import { z } from "zod";
import type { Store } from "../store/index.ts";

const lineSchema = z.object({
  line: z.string(),
  /** Something of the rollout could not be kept: a person wants to hear of it. */
  loss: z.boolean().optional(),
  /** What could not be kept is the final state of the box that one attempt, or one step of it, left. */
  workspace: z.object({ attempt: z.number(), step: z.string().nullable() }).optional(),
});

export type LogDetails = Omit<z.input<typeof lineSchema>, "line">;

/** The sentence that told, at the time, why the final state of a box could not be kept; null = there is none. */
export function workspaceLoss(store: Store, rolloutId: string, attempt: number, step: string | null): string | null {
  for (let after = 0; ; ) {
    const events = store.eventsAfter(after, 1000, { rolloutId });
    for (const { sequence, type, payload } of events) {
      after = sequence;
      const said = type === "log" ? lineSchema.parse(JSON.parse(payload)) : null;
      if (said?.workspace?.attempt === attempt && said.workspace.step === step) return said.line;
    }
    if (events.length < 1000) return null;
  }
}
