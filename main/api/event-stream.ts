/** Committed events as an endless stream: first those after a sequence number, in pages, then live. Nothing is lost between the two. */
import type { EventRecord, Store } from "../store/index.ts";

const pageSize = 500;

/** Calls back with what no event can tell, because it could not be written. Returns the unsubscriber. */
export type OnUnwritable = (listener: (error: unknown) => void) => () => void;

/** Ends when `signal` aborts, and with what `onUnwritable` tells: nobody shall wait for an event that never comes. `after` = null starts from now. */
export async function* followEvents(
  store: Store,
  after: number | null,
  signal: AbortSignal | undefined,
  onUnwritable: OnUnwritable = () => () => undefined,
): AsyncGenerator<EventRecord, void, void> {
  let wake: () => void = () => undefined;
  let fault: { readonly error: unknown } | null = null;
  const unsubscribe = store.onEvent(() => wake());
  const forget = onUnwritable((error) => {
    fault = { error };
    wake();
  });
  const told = (): { readonly error: unknown } | null => fault;
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
      const unwritten = told();
      if (unwritten !== null) throw unwritten.error;
      await new Promise<void>((resolve) => {
        wake = resolve;
        if (signal?.aborted === true || fault !== null || store.lastSequence() > last) resolve();
      });
    }
  } finally {
    unsubscribe();
    forget();
    signal?.removeEventListener("abort", stop);
  }
}
