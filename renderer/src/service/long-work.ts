/**
 * Long work that answers with progress lines and one result. It is kept by key, not by pane: leaving a screen neither stops it
 * nor forgets what it found.
 */
import { useCallback } from "react";
import { create } from "zustand";
import { presentClient, type ServiceClient } from "./connection.ts";
import { asFailure, type Failure } from "./failure.ts";

type Progress<R> = { readonly type: "progress"; readonly line: string } | { readonly type: "result"; readonly result: R };
export type WorkStart<R> = (client: ServiceClient, signal: AbortSignal) => Promise<AsyncIterable<Progress<R>>>;

export interface LongWork<R> {
  readonly status: "idle" | "running" | "done" | "failed" | "stopped";
  readonly lines: readonly string[];
  readonly result: R | null;
  readonly failure: Failure | null;
}

const keptLines = 5000;
const flushEvery = 80;
const idle: LongWork<never> = { status: "idle", lines: [], result: null, failure: null };

const useWorks = create<{ readonly works: ReadonlyMap<string, LongWork<unknown>> }>(() => ({ works: new Map() }));
const controllers = new Map<string, AbortController>();

function set(key: string, change: Partial<LongWork<unknown>>): void {
  useWorks.setState(({ works }) => ({ works: new Map(works).set(key, { ...(works.get(key) ?? idle), ...change }) }));
}

/** Starts the work of a key; what ran under it before is stopped. Answers with its result, or null when there is none. */
export async function startWork<R>(key: string, begin: WorkStart<R>): Promise<R | null> {
  controllers.get(key)?.abort();
  const controller = new AbortController();
  controllers.set(key, controller);
  const isCurrent = (): boolean => controllers.get(key) === controller;
  const lines: string[] = [];
  let flushed = 0;
  const flush = (): void => {
    if (flushed === lines.length) return;
    flushed = lines.length;
    set(key, { lines: lines.slice(-keptLines) });
  };
  set(key, { ...idle, status: "running" });
  const timer = setInterval(() => isCurrent() && flush(), flushEvery);
  try {
    for await (const step of await begin(presentClient(), controller.signal)) {
      if (step.type === "progress") lines.push(step.line);
      else if (isCurrent()) {
        flush();
        set(key, { status: "done", result: step.result });
        return step.result;
      }
    }
    if (isCurrent()) set(key, { status: "failed", failure: { message: "The work ended without a result.", remedy: "Start it again." } });
  } catch (error) {
    if (!isCurrent()) return null;
    flush();
    set(key, controller.signal.aborted ? { status: "stopped" } : { status: "failed", failure: asFailure(error) });
  } finally {
    clearInterval(timer);
    if (isCurrent()) controllers.delete(key);
  }
  return null;
}

/** Forgets what ended under a key; what still runs goes on. */
export function forgetWork(key: string): void {
  if (controllers.has(key)) return;
  useWorks.setState(({ works }) => {
    const kept = new Map(works);
    kept.delete(key);
    return { works: kept };
  });
}

/** How the work of a key stands. */
export const workOf = (key: string): LongWork<unknown> => useWorks.getState().works.get(key) ?? idle;

export const stopWork = (key: string): void => controllers.get(key)?.abort();

export function useLongWork<R>(key: string): LongWork<R> {
  return useWorks(useCallback(({ works }) => (works.get(key) as LongWork<R> | undefined) ?? idle, [key]));
}
