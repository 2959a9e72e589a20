/**
 * Which rollouts of an experiment have changed since a reader last looked. The service is the sole writer, so it is enough to remember
 * the changes of this process; marks begin at the time it started, and a mark of an earlier process is older than all of them.
 */
interface ChangeMarks {
  note(experiment: number, rollout: number): void;
  mark(experiment: number): number;
  /** Keys of the rollouts that changed after the mark; null = not known, read all. */
  after(experiment: number, mark: number): readonly number[] | null;
}

/** `now`: Unix milliseconds. A thousand changes a millisecond would be needed to reach the marks of the next process. */
export function createChangeMarks(now: number = Date.now()): ChangeMarks {
  const opened = now * 1000;
  let last = opened;
  const experiments = new Map<number, { mark: number; readonly rollouts: Map<number, number> }>();
  return {
    note(experiment, rollout) {
      last += 1;
      const changes = experiments.get(experiment) ?? { mark: last, rollouts: new Map() };
      experiments.set(experiment, changes);
      changes.mark = last;
      changes.rollouts.set(rollout, last);
    },
    mark: (experiment) => experiments.get(experiment)?.mark ?? opened,
    after(experiment, mark) {
      if (mark < opened) return null;
      return [...(experiments.get(experiment)?.rollouts ?? [])].flatMap(([rollout, at]) => (at > mark ? [rollout] : []));
    },
  };
}
