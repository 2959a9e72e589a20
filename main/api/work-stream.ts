/** Long work as an event stream: progress lines as they come, then one result; aborting the stream aborts the work. */
import { ORPCError } from "@orpc/server";
import { WorkbenchError } from "../errors.ts";

export type WorkEvent<T> = { type: "progress"; line: string } | { type: "result"; result: T };

/** An expected failure in the form the contract declares; anything else is a bug and stays as it is. */
export function asContractError(error: unknown): unknown {
  if (!(error instanceof WorkbenchError)) return error;
  return new ORPCError("WORKBENCH", {
    status: 422,
    defined: true,
    message: error.message,
    data: { code: error.code, remedy: error.remedy, exitCode: error.exitCode },
  });
}

/**
 * Runs `work` and yields its progress. `signal` is the caller's: when it aborts, the work's own signal aborts too and the
 * stream ends once the work has wound down.
 */
export async function* streamWork<T>(
  signal: AbortSignal | undefined,
  work: (report: (line: string) => void, signal: AbortSignal) => Promise<T>,
): AsyncGenerator<WorkEvent<T>, void, void> {
  const stop = new AbortController();
  const waiting: string[] = [];
  let wake: () => void = () => undefined;
  const report = (line: string): void => {
    waiting.push(line);
    wake();
  };
  let settled: { ok: true; result: T } | { ok: false; error: unknown } | null = null;
  const running = work(report, signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal])).then(
    (result) => {
      settled = { ok: true, result };
      wake();
    },
    (error: unknown) => {
      settled = { ok: false, error };
      wake();
    },
  );
  try {
    for (;;) {
      for (let line = waiting.shift(); line !== undefined; line = waiting.shift()) yield { type: "progress", line };
      const end = settled as { ok: true; result: T } | { ok: false; error: unknown } | null;
      if (end !== null) {
        if (!end.ok) throw asContractError(end.error);
        yield { type: "result", result: end.result };
        return;
      }
      await new Promise<void>((resolve) => {
        wake = resolve;
        if (waiting.length > 0 || settled !== null) resolve();
      });
    }
  } finally {
    stop.abort();
    await running;
  }
}
