import { setImmediate as nextTurn } from "node:timers/promises";

/** Reading bodies takes time: the event loop answers in between. Rejects with the signal's reason. */
export async function giveWay(signal: AbortSignal): Promise<void> {
  await nextTurn();
  signal.throwIfAborted();
}
