/** Which rows of Runs are open and which one is selected. Row keys: `e/<experiment>`, `r/<rollout>`, `c/<rollout>/<call id>`. */
import { create } from "zustand";

interface RunsSelection {
  readonly expanded: ReadonlySet<string>;
  readonly active: string | null;
  readonly filter: string;
  /** A key is being typed: its first letters are no filter yet. */
  readonly typingKey: boolean;
}

export const useRunsSelection = create<RunsSelection>(() => ({ expanded: new Set(), active: null, filter: "", typingKey: false }));

export function setExpanded(key: string, open: boolean): void {
  useRunsSelection.setState(({ expanded }) => {
    const next = new Set(expanded);
    if (open) next.add(key);
    else next.delete(key);
    return { expanded: next };
  });
}

export const setFilter = (filter: string): void => useRunsSelection.setState({ filter });
