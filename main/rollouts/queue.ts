/** Work waits here until there is room: for its group (experiment), and over all groups. First come, first served among those with room. */

export interface QueuedWork {
  readonly id: string;
  readonly group: string;
  /** Works of this group at once. */
  readonly groupLimit: number;
  /** Must not reject: what goes wrong is the work's own to tell. */
  run(): Promise<void>;
}

export interface WorkQueue {
  add(work: QueuedWork): void;
  /** Takes waiting work out; false when it was not waiting. */
  remove(id: string): boolean;
  /** Resolves when nothing waits or runs. */
  idle(): Promise<void>;
  /** Starts nothing any more; resolves when what runs has ended. */
  close(): Promise<void>;
}

/** A queue with at most `limit` works running at once. */
export function createWorkQueue(limit: number): WorkQueue {
  const waiting: QueuedWork[] = [];
  const running = new Map<string, number>();
  const idlers: (() => void)[] = [];
  let total = 0;
  let closed = false;

  const runningOf = (group: string): number => running.get(group) ?? 0;

  function start(work: QueuedWork): void {
    total += 1;
    running.set(work.group, runningOf(work.group) + 1);
    void work.run().finally(() => {
      total -= 1;
      running.set(work.group, runningOf(work.group) - 1);
      pump();
    });
  }

  function pump(): void {
    while (!closed && total < limit) {
      const at = waiting.findIndex((work) => runningOf(work.group) < work.groupLimit);
      const work = waiting[at];
      if (work === undefined) break;
      waiting.splice(at, 1);
      start(work);
    }
    if (total === 0 && (closed || waiting.length === 0)) for (const resolve of idlers.splice(0)) resolve();
  }

  const idle = (): Promise<void> =>
    new Promise((resolve) => {
      idlers.push(resolve);
      pump();
    });

  return {
    add(work) {
      waiting.push(work);
      pump();
    },
    remove(id) {
      const at = waiting.findIndex((work) => work.id === id);
      if (at < 0) return false;
      waiting.splice(at, 1);
      pump();
      return true;
    },
    idle,
    close() {
      closed = true;
      return idle();
    },
  };
}
