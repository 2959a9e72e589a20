/** Committed events as an endless stream: first those after a sequence number, in pages, then live. Nothing is lost between the two. */
import type { EventRecord, Store } from "../store/index.ts";

const pageSize = 500;

/** Calls back with what no event can tell, because it could not be written. Returns the unsubscriber. */
type OnUnwritable = (listener: (error: unknown) => void) => () => void;

/** Ends when `signal` aborts, and with what `onUnwritable` tells: nobody shall wait for an event that never comes. `after` = null starts from now. */
export async function* followEvents(
  store: Store,
  after: number | null,
  signal: AbortSignal | undefined,
  onUnwritable: OnUnwritable,
): AsyncGenerator<EventRecord, void, void> {
  let wake: () => void = () => undefined;
  const unwritten: unknown[] = [];
  const unsubscribe = store.onEvent(() => wake());
  const forget = onUnwritable((error) => {
    unwritten.push(error);
    wake();
  });
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
      if (unwritten.length > 0) throw unwritten[0];
      await new Promise<void>((resolve) => {
        wake = resolve;
        if (signal?.aborted === true || unwritten.length > 0 || store.lastSequence() > last) resolve();
      });
    }
  } finally {
    unsubscribe();
    forget();
    signal?.removeEventListener("abort", stop);
  }
}
