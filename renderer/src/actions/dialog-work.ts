/** Long work that a dialog begins and that goes on without it: how it ends is said in a message when nobody looks at the dialog. */
import { startWork, type WorkStart, workOf } from "../service/long-work.ts";
import { type Notice, notify } from "../state/notices.ts";
import { type Overlay, useOverlay } from "../state/overlays.ts";

interface DialogWork<R> {
  readonly key: string;
  readonly begin: WorkStart<R>;
  /** Whether its dialog is what lies over the window. */
  readonly isShown: (open: Overlay) => boolean;
  readonly news: (result: R) => Pick<Notice, "title"> & Partial<Notice>;
}

/** Answers with the result, or null when there is none. What a person stopped is no news. */
export async function startDialogWork<R>({ key, begin, isShown, news }: DialogWork<R>): Promise<R | null> {
  const result = await startWork<R>(key, begin);
  const { open } = useOverlay.getState();
  if (open !== null && isShown(open)) return result;
  const { failure } = workOf(key);
  if (result !== null) notify({ tone: "success", ...news(result) });
  else if (failure !== null) notify({ tone: "failed", title: failure.message, text: failure.remedy });
  return result;
}
