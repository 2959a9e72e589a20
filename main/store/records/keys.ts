/** Integer keys of experiments and rollouts by their ids, remembered for those at work: every call and event needs them. */
import type { Database } from "../database.ts";
import { missing } from "../errors.ts";

interface ExperimentKey {
  readonly key: number;
  readonly id: string;
}

export interface RolloutKey {
  readonly key: number;
  readonly experiment: ExperimentKey;
}

export interface RecordKeys {
  findExperiment(id: string): ExperimentKey | null;
  findRollout(id: string): RolloutKey | null;
  /** As `find…`; throws when there is none. */
  experiment(id: string): ExperimentKey;
  rollout(id: string): RolloutKey;
  /** After a deletion or a rollback. */
  clear(): void;
}

/** What is forgotten is asked for once more. */
const mostRollouts = 10_000;

export function createRecordKeys(db: Database): RecordKeys {
  const experiments = new Map<string, ExperimentKey>();
  const rollouts = new Map<string, RolloutKey>();
  const experimentKey = db.prepare<[string], { key: number }>("SELECT key FROM experiment WHERE id = ?");
  const rolloutKey = db.prepare<[string], { key: number; experimentKey: number; experimentId: string }>(
    `SELECT rollout.key, experiment.key AS experimentKey, experiment.id AS experimentId
     FROM rollout JOIN experiment ON experiment.key = rollout.experiment WHERE rollout.id = ?`,
  );

  function findExperiment(id: string): ExperimentKey | null {
    const known = experiments.get(id);
    if (known !== undefined) return known;
    const row = experimentKey.get(id);
    if (row === undefined) return null;
    const found = { key: row.key, id };
    experiments.set(id, found);
    return found;
  }

  function findRollout(id: string): RolloutKey | null {
    const known = rollouts.get(id);
    if (known !== undefined) return known;
    const row = rolloutKey.get(id);
    if (row === undefined) return null;
    const found = { key: row.key, experiment: { key: row.experimentKey, id: row.experimentId } };
    if (rollouts.size >= mostRollouts) rollouts.clear();
    rollouts.set(id, found);
    return found;
  }

  return {
    findExperiment,
    findRollout,
    experiment(id) {
      const found = findExperiment(id);
      if (found === null) throw missing("experiment", id);
      return found;
    },
    rollout(id) {
      const found = findRollout(id);
      if (found === null) throw missing("rollout", id);
      return found;
    },
    clear() {
      experiments.clear();
      rollouts.clear();
    },
  };
}
