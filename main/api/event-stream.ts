/** Committed events as an endless stream: first those after a sequence number, in pages, then live. Nothing is lost between the two. */
import type { EventRecord, Store } from "../store/index.ts";

const pageSize = 500;

/** Ends when `signal` aborts. `after` = null starts from now. */
export async function* followEvents(store: Store, after: number | null, signal: AbortSignal | undefined): AsyncGenerator<EventRecord, void, void> {
  let wake: () => void = () => undefined;
  const unsubscribe = store.onEvent(() => wake());
  const stop = (): void => wake();
  signal?.addEventListener("abort", stop);
  let last = after ?? store.lastSequence();
  try {
    while (signal?.aborted !== true) {
      const page = store.eventsAfter(last, pageSize);
      for (const event of page) {
        yield event;
        last = event.sequence;
      }
      if (page.length > 0) continue;
      await new Promise<void>((resolve) => {
        wake = resolve;
        if (signal?.aborted === true || store.lastSequence() > last) resolve();
      });
    }
  } finally {
    unsubscribe();
    signal?.removeEventListener("abort", stop);
  }
}
