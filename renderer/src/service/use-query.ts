import { useCallback, useMemo, useSyncExternalStore } from "react";
import { peek, type Query, type QueryState, subscribe } from "./queries.ts";

const nothing: QueryState<never> = { value: undefined, failure: null, loading: false };
const noQuery: Query<never> = { key: "", load: () => Promise.reject(new Error("no query")) };

/** The value of a query, kept fresh while the component is there. `null` reads nothing. */
export function useQuery<T>(query: Query<T> | null): QueryState<T> {
  const used: Query<T> = query ?? noQuery;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a query is named by its key
  const listen = useCallback((listener: () => void) => (query === null ? () => undefined : subscribe(used, listener)), [used.key]);
  return useSyncExternalStore(listen, () => (query === null ? nothing : peek(used)));
}

/** Several queries of one kind, by id; the map changes only when one of its values does. */
export function useQueries<T>(queries: readonly Query<T>[]): ReadonlyMap<string, QueryState<T>> {
  const keys = queries.map((query) => query.key).join("\n");
  // biome-ignore lint/correctness/useExhaustiveDependencies: queries are named by their keys
  const listen = useCallback(
    (listener: () => void) => {
      const ends = queries.map((query) => subscribe(query, listener));
      return () => {
        for (const end of ends) end();
      };
    },
    [keys],
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: queries are named by their keys
  const snapshot = useMemo(() => sameMap(() => new Map(queries.map((query) => [query.key, peek(query)]))), [keys]);
  return useSyncExternalStore(listen, snapshot);
}

/** A getter that returns its last map as long as every value in it is the same. */
function sameMap<T>(read: () => ReadonlyMap<string, T>): () => ReadonlyMap<string, T> {
  let last: ReadonlyMap<string, T> = new Map();
  return () => {
    const next = read();
    const same = next.size === last.size && [...next].every(([key, value]) => last.get(key) === value);
    if (!same) last = next;
    return last;
  };
}
