/** The record of one rollout attempt: every request in the order in which it came, each written once and whole. */
import { createPlacementIndex, type PlacementIndex } from "../../engine/graph/index.ts";
import type { Store } from "../store/index.ts";
import type { Arrival, CallEntry } from "./call-entry.ts";
import type { CallMark } from "./call-events.ts";
import { buildCountRecord, buildRecord, type FinishedCall, type RecordContext, type RecordPlace } from "./call-record.ts";
import { answerOf } from "./call-reply.ts";
import type { Clock, SessionStats } from "./contract.ts";
import type { TokenCount } from "./count-tokens.ts";
import { createStats } from "./session-stats.ts";

interface CallRecorderOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly rolloutId: string;
  readonly attempt: number;
  readonly sessionHeaders: readonly string[];
}

interface CallRecorder {
  /** The next place in the record. */
  place(): RecordPlace;
  /** Resolves when the call is on disk; throws or rejects when it can't be written. */
  record(finished: Omit<FinishedCall, "endedAt" | "placement">): Promise<void>;
  /** The same for a request that asks how many tokens it would be. */
  recordCount(arrival: Arrival, counted: TokenCount, late: boolean): Promise<void>;
  mark(id: string, change: CallMark): void;
  refused(): void;
  stats(): SessionStats;
  /** Nothing is being written any more. */
  settled(): Promise<void>;
}

export function createCallRecorder({ store, clock, rolloutId, attempt, sessionHeaders }: CallRecorderOptions): CallRecorder {
  const context: RecordContext = { rolloutId, attempt, blobs: store.blobs, redactHeaders: store.redactor.headers, sessionHeaders };
  const stats = createStats();
  const writing = new Set<Promise<void>>();
  let placements: PlacementIndex | null = null;
  let places = 0;

  function written(promise: Promise<void>): Promise<void> {
    const settled = promise.then(
      () => undefined,
      () => undefined,
    );
    writing.add(settled);
    settled.finally(() => writing.delete(settled));
    return promise;
  }

  function noteCall(entry: CallEntry, note: string): void {
    const payload = JSON.stringify({ call: entry.id, note });
    store.appendEvent({ at: clock.now(), experimentId: null, rolloutId, type: "call.note", payload });
  }

  function place(): RecordPlace {
    const index = places++;
    return { index, id: `${rolloutId}-${attempt}-${index}` };
  }

  return {
    place,
    record(finished) {
      const { entry, ending } = finished;
      const tokens = answerOf(ending)?.tokens;
      if (tokens !== undefined) placements ??= createPlacementIndex();
      const placement = tokens === undefined || placements === null ? null : placements.placeCall({ callId: entry.id, ...tokens });
      const built = buildRecord({ ...finished, endedAt: clock.now(), placement }, context);
      stats.recorded(built.call, ending, built.secretSeen);
      return written(
        store.recordCallDurably(built.call, built.node, entry.attachments).then(() => {
          for (const note of entry.notes.splice(0)) noteCall(entry, note);
        }),
      );
    },
    recordCount(arrival, counted, late) {
      const call = buildCountRecord({ arrival, counted, late, place: place(), endedAt: clock.now() }, context);
      stats.counted();
      return written(store.recordCallDurably(call, null, arrival.attachments));
    },
    mark: (id, change) => store.updateCall(id, change),
    refused: () => stats.refused(),
    stats: () => stats.read(),
    async settled() {
      await Promise.all(writing);
    },
  };
}
