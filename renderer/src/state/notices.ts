/** Messages about what ended elsewhere. At most three are on the screen; all of the last hundred stay under the bell. */
import { create } from "zustand";
import { asFailure } from "../service/failure.ts";

export interface Notice {
  readonly id: number;
  readonly tone: "success" | "failed" | "neutral";
  /** What happened. */
  readonly title: string;
  /** What holds now, or what to do. */
  readonly text: string | null;
  readonly action: { readonly verb: string; readonly run: () => void } | null;
  readonly at: number;
}

const shownAtMost = 3;
const keptAtMost = 100;

interface Notices {
  readonly shown: readonly Notice[];
  readonly kept: readonly Notice[];
}

export const useNotices = create<Notices>(() => ({ shown: [], kept: [] }));

let lastId = 0;

export function notify(notice: Pick<Notice, "tone" | "title"> & Partial<Notice>): void {
  lastId += 1;
  const full: Notice = { text: null, action: null, ...notice, id: lastId, at: Date.now() };
  useNotices.setState(({ shown, kept }) => ({ shown: [...shown, full].slice(-shownAtMost), kept: [full, ...kept].slice(0, keptAtMost) }));
}

export const dismiss = (id: number): void => useNotices.setState(({ shown }) => ({ shown: shown.filter((notice) => notice.id !== id) }));

/** Says that an action failed, with what to do. */
export function notifyFailure(error: unknown): void {
  const { message, remedy } = asFailure(error);
  notify({ tone: "failed", title: message, text: remedy });
}
