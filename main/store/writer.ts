/**
 * The one way to write. `write` commits before it returns. `writeSoon` commits together with everything else that came in the same turn
 * of the event loop (a commit costs more than the rows of a call) and resolves when that is durable; a piece of work that fails is
 * taken out and fails alone. Order: work runs in the order in which it was handed in, whichever way.
 */
import type { Database } from "./database.ts";

export interface WriterHooks {
  /** Makes durable what the commit will refer to (bodies in the journal). */
  beforeCommit(): void;
  committed(): void;
  /** Undoes what the work changed in memory. */
  rolledBack(): void;
  /** The error to throw in place of this one. */
  explain(error: unknown): unknown;
}

export interface Writer {
  write<T>(work: () => T): T;
  writeSoon(work: () => void): Promise<void>;
  /** Commits what waits. */
  flush(): void;
}

interface Waiting {
  readonly work: () => void;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export function createWriter(db: Database, hooks: WriterHooks): Writer {
  const begin = db.prepare("BEGIN IMMEDIATE");
  const commit = db.prepare("COMMIT");
  const rollback = db.prepare("ROLLBACK");
  let waiting: Waiting[] = [];
  let scheduled = false;

  function transact<T>(work: () => T): T {
    let result: T;
    try {
      begin.run();
      result = work();
      hooks.beforeCommit();
      commit.run();
    } catch (error) {
      if (db.inTransaction) rollback.run();
      hooks.rolledBack();
      throw hooks.explain(error);
    }
    hooks.committed();
    return result;
  }

  function settle(group: readonly Waiting[]): void {
    try {
      transact(() => {
        for (const { work } of group) work();
      });
    } catch (error) {
      if (group.length === 1) group[0]?.reject(error);
      else for (const one of group) settle([one]);
      return;
    }
    for (const { resolve } of group) resolve();
  }

  function flush(): void {
    if (waiting.length === 0) return;
    const group = waiting;
    waiting = [];
    settle(group);
  }

  return {
    write(work) {
      if (db.inTransaction) return work();
      flush();
      return transact(work);
    },
    writeSoon(work) {
      return new Promise((resolve, reject) => {
        waiting.push({ work, resolve, reject });
        if (scheduled) return;
        scheduled = true;
        setImmediate(() => {
          scheduled = false;
          flush();
        });
      });
    },
    flush,
  };
}
