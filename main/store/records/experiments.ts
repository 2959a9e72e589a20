import type { Outcome } from "../../../engine/outcome/index.ts";
import { WorkbenchError } from "../../errors.ts";
import type { ExperimentRecord, ExperimentSummary, Redactor, Store } from "../contract.ts";
import type { Database } from "../database.ts";
import { isConstraint } from "../errors.ts";
import type { Writer } from "../writer.ts";
import type { RecordKeys } from "./keys.ts";
import { outcomeSchema } from "./schemas.ts";

type ExperimentMethods = Pick<Store, "createExperiment" | "updateExperiment" | "experiment" | "experiments" | "experimentSummary">;

const columns = "id, name, created_at AS createdAt, ended_at AS endedAt, spec, status, kind";

interface Totals {
  readonly harness: string;
  readonly policy: string;
  readonly status: string | null;
  readonly rollouts: number;
  readonly ended: number;
  readonly queued: number;
  readonly calls: number;
  readonly chains: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
}

interface Rewarded {
  readonly taskName: string;
  readonly status: string;
  readonly cause: string | null;
  readonly action: string | null;
  readonly reward: number;
}

export function createExperimentRecords(db: Database, writer: Writer, redactor: Redactor, keys: RecordKeys): ExperimentMethods {
  const insert = db.prepare("INSERT INTO experiment (id, name, created_at, ended_at, spec, status, kind) VALUES (?, ?, ?, ?, ?, ?, ?)");
  const update = db.prepare("UPDATE experiment SET name = ?, ended_at = ?, status = ? WHERE id = ?");
  const one = db.prepare<[string], ExperimentRecord>(`SELECT ${columns} FROM experiment WHERE id = ?`);
  const all = db.prepare<[], ExperimentRecord & { readonly key: number }>(
    `SELECT key, ${columns} FROM experiment ORDER BY created_at DESC, key DESC`,
  );
  const totals = db.prepare<[number], Totals>(
    `SELECT harness, policy, outcome_status AS status, count(*) AS rollouts, sum(phase = 'ended') AS ended,
       sum(phase = 'queued' AND outcome_status IS NULL) AS queued, sum(calls) AS calls,
       sum(chains) AS chains, sum(prompt_tokens) AS promptTokens, sum(completion_tokens) AS completionTokens
     FROM rollout JOIN tally ON tally.rollout = rollout.key WHERE experiment = ? GROUP BY harness, policy, outcome_status ORDER BY min(key)`,
  );
  const rewards = db.prepare<[number], Rewarded>(
    `SELECT task_name AS taskName, outcome_status AS status, outcome_cause AS cause, outcome_action AS action, reward
     FROM rollout WHERE experiment = ? AND reward IS NOT NULL AND outcome_status IS NOT NULL ORDER BY key`,
  );

  return {
    createExperiment(record) {
      writer.write(() => {
        try {
          insert.run(record.id, redactor.text(record.name), record.createdAt, record.endedAt, redactor.text(record.spec), record.status, record.kind);
        } catch (error) {
          if (!isConstraint(error, "UNIQUE")) throw error;
          throw new WorkbenchError(
            "store",
            `There is already an experiment ${record.id} in this data folder.`,
            "Delete it first, or give the new one another id.",
            {
              cause: error,
            },
          );
        }
      });
    },

    updateExperiment(id, change) {
      writer.write(() => {
        keys.experiment(id);
        const record = { ...one.get(id), ...change };
        update.run(redactor.text(record.name ?? ""), record.endedAt, record.status, id);
      });
    },

    experiment: (id) => one.get(id) ?? null,
    experiments: () => all.all().map(({ key: _key, ...record }) => record),

    experimentSummary(id) {
      writer.flush();
      const { key } = keys.experiment(id);
      return summarise(totals.all(key), rewards.all(key));
    },
  };
}

/** There are few different ones, and thousands of rollouts: each is read once. */
const knownOutcomes = new Map<string, Outcome>();

function outcomeOf({ status, cause, action }: Omit<Rewarded, "taskName" | "reward">): Outcome {
  const key = `${status} ${cause} ${action}`;
  const known = knownOutcomes.get(key);
  if (known !== undefined) return known;
  const read = outcomeSchema.parse({ status, cause, action, detail: null });
  knownOutcomes.set(key, read);
  return read;
}

function summarise(rows: readonly Totals[], rewarded: readonly Rewarded[]): ExperimentSummary {
  const outcomes: Record<string, number> = {};
  for (const row of rows) if (row.status !== null) outcomes[row.status] = (outcomes[row.status] ?? 0) + row.rollouts;
  const sum = (read: (row: Totals) => number) => rows.reduce((total, row) => total + read(row), 0);
  return {
    total: sum((row) => row.rollouts),
    ended: sum((row) => row.ended),
    queued: sum((row) => row.queued),
    outcomes,
    calls: sum((row) => row.calls),
    chains: sum((row) => row.chains),
    promptTokens: sum((row) => row.promptTokens),
    completionTokens: sum((row) => row.completionTokens),
    harnesses: [...new Set(rows.map((row) => row.harness))],
    policies: [...new Set(rows.map((row) => row.policy))],
    rewards: rewarded.map(({ taskName, reward, ...outcome }) => ({ taskName, reward, outcome: outcomeOf(outcome) })),
  };
}
