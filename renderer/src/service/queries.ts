/**
 * What was read from the service, by key. Everyone who shows a key shares one value and one request; an invalidated key is read
 * again while it is shown, not more often than it costs. The old value stays until the new one is there: nothing flashes.
 */
import { type ServiceClient, serviceClient } from "./connection.ts";
import { asFailure, type Failure, isAbort } from "./failure.ts";

export interface Query<T> {
  /** `kind:id`; invalidation goes by key or by `kind:`. */
  readonly key: string;
  readonly load: (client: ServiceClient, signal: AbortSignal) => Promise<T>;
}

export interface QueryState<T> {
  readonly value: T | undefined;
  readonly failure: Failure | null;
  readonly loading: boolean;
}

interface Entry {
  state: QueryState<unknown>;
  query: Query<unknown>;
  readonly listeners: Set<() => void>;
  stale: boolean;
  request: AbortController | null;
  timer: ReturnType<typeof setTimeout> | null;
  /** Not before this moment again (ms of performance.now). */
  notBefore: number;
}

const shortestGap = 200;
const longestGap = 5000;
const keptIdle = 60;
const keptLarge = 6;
const isLarge = /^(body|blob|tokens):/;
const empty: QueryState<never> = { value: undefined, failure: null, loading: true };
const entries = new Map<string, Entry>();

function change(entry: Entry, state: QueryState<unknown>): void {
  entry.state = state;
  for (const listener of [...entry.listeners]) listener();
}

async function read(entry: Entry): Promise<void> {
  const request = new AbortController();
  entry.request = request;
  entry.stale = false;
  const started = performance.now();
  if (!entry.state.loading) change(entry, { ...entry.state, loading: true });
  try {
    const value = await entry.query.load(await serviceClient(), request.signal);
    if (!request.signal.aborted) change(entry, { value, failure: null, loading: false });
  } catch (error) {
    if (!request.signal.aborted) change(entry, { value: entry.state.value, failure: isAbort(error) ? null : asFailure(error), loading: false });
  } finally {
    const took = performance.now() - started;
    entry.notBefore = performance.now() + Math.min(longestGap, Math.max(shortestGap, 4 * took));
    if (entry.request === request) entry.request = null;
    if (entry.stale) schedule(entry);
  }
}

function schedule(entry: Entry): void {
  if (entry.request !== null || entry.timer !== null || entry.listeners.size === 0) return;
  entry.timer = setTimeout(
    () => {
      entry.timer = null;
      void read(entry);
    },
    Math.max(0, entry.notBefore - performance.now()),
  );
}

/** Values that nobody shows are kept a while; of the large ones (bodies, texts, tokens) only the last few. */
function dropIdle(): void {
  const idle = [...entries].filter(([, entry]) => entry.listeners.size === 0 && entry.request === null).map(([key]) => key);
  const [large, small] = [idle.filter((key) => isLarge.test(key)), idle.filter((key) => !isLarge.test(key))];
  for (const key of [...large.slice(0, -keptLarge), ...small.slice(0, -keptIdle)]) entries.delete(key);
}

function entryOf(query: Query<unknown>): Entry {
  const known = entries.get(query.key);
  if (known !== undefined) return known;
  const made: Entry = { state: empty, query, listeners: new Set(), stale: true, request: null, timer: null, notBefore: 0 };
  entries.set(query.key, made);
  return made;
}

export function subscribe(query: Query<unknown>, listener: () => void): () => void {
  const entry = entryOf(query);
  entry.query = query;
  entry.listeners.add(listener);
  if (entry.stale) schedule(entry);
  return () => {
    entry.listeners.delete(listener);
    if (entry.listeners.size === 0) dropIdle();
  };
}

export function peek<T>(query: Query<T>): QueryState<T> {
  return (entries.get(query.key)?.state as QueryState<T> | undefined) ?? empty;
}

/** Marks keys as old: an exact key, or every key of a kind when it ends in a colon. */
export function invalidate(keyOrKind: string): void {
  const matches = keyOrKind.endsWith(":") ? (key: string) => key.startsWith(keyOrKind) : (key: string) => key === keyOrKind;
  for (const [key, entry] of entries) {
    if (!matches(key)) continue;
    entry.stale = true;
    schedule(entry);
  }
}

/** Marks everything as old; it is read again at its own pace. */
export function invalidateShown(): void {
  for (const entry of entries.values()) {
    entry.stale = true;
    schedule(entry);
  }
}

/** After a reconnect everything shown is read again, at once; requests of the old connection are dropped. */
export function invalidateAll(): void {
  for (const entry of entries.values()) {
    entry.request?.abort();
    entry.request = null;
    entry.stale = true;
    entry.notBefore = 0;
    schedule(entry);
  }
}

/** Puts in a value that an action has just answered with, so that it is seen without another request. */
export function put<T>(query: Query<T>, value: T): void {
  change(entryOf(query), { value, failure: null, loading: false });
}
