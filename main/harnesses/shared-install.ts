/** One install that several callers wait for: each may leave, and the last that leaves ends it. */
import { WorkbenchError } from "../errors.ts";

type Heard = (line: string) => void;

export interface SharedInstall<T> {
  /** Waits for the result; `signal` ends only this caller's waiting, unless it is the last. Rejects as the work does. */
  join(onProgress: Heard, signal?: AbortSignal): Promise<T>;
  /** Ends when the work ends, well or not. */
  readonly settled: Promise<void>;
  /** Everyone has left and it is being ended: too late to join. */
  isStopping(): boolean;
}

/** Starts the work at once. Everyone who has joined hears its lines; `subject` names it when a caller leaves. */
export function shareInstall<T>(subject: string, work: (onProgress: Heard, stop: AbortSignal) => Promise<T>): SharedInstall<T> {
  const stop = new AbortController();
  const callers = new Set<Heard>();
  const done = work((line) => {
    for (const heard of callers) heard(line);
  }, stop.signal);
  const nothing = (): void => undefined;

  return {
    settled: done.then(nothing, nothing),
    isStopping: () => stop.signal.aborted,
    async join(onProgress, signal) {
      const heard: Heard = (line) => onProgress(line);
      callers.add(heard);
      let leave = nothing;
      const left = new Promise<null>((resolve) => {
        leave = () => resolve(null);
      });
      signal?.addEventListener("abort", leave, { once: true });
      if (signal?.aborted === true) leave();
      try {
        const first = await Promise.race([done.then((result) => ({ result })), left]);
        if (first !== null) return first.result;
      } finally {
        signal?.removeEventListener("abort", leave);
        callers.delete(heard);
      }
      if (callers.size > 0) throw new WorkbenchError("harness", `${subject}: it was cancelled.`, "Start it again.", { exitCode: 130 });
      stop.abort();
      // It is over when nothing of it is left.
      return done;
    },
  };
}
