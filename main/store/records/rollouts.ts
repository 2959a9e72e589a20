import { WorkbenchError } from "../../errors.ts";
import type { Redactor, RolloutRecord, RolloutUpdate, Store } from "../contract.ts";
import type { Database } from "../database.ts";
import { isConstraint } from "../errors.ts";
import type { Writer } from "../writer.ts";
import { createChangeMarks } from "./change-marks.ts";
import type { RecordKeys, RolloutKey } from "./keys.ts";
import { rolloutSchema } from "./schemas.ts";

type RolloutMethods = Pick<Store, "createRollouts" | "updateRollout" | "rollout" | "rolloutsOf" | "rolloutMark" | "unfinishedRollouts">;

export interface RolloutRecords extends RolloutMethods {
  /** Inside a write: adds a recorded call to the rollout's counts. */
  count(rollout: RolloutKey, promptTokens: number, completionTokens: number): void;
}

/** Columns of a rollout's own row that may change, in the order of the statements. */
const changing = [
  "task_name",
  "task_digest",
  "task_path",
  "harness",
  "harness_version",
  "policy",
  "policy_version",
  "sandbox",
  "group_index",
  "seed",
  "phase",
  "outcome_status",
  "outcome_cause",
  "outcome_action",
  "outcome_detail",
  "reward",
  "rewards",
  "attempts",
  "phases",
  "isolation",
  "fingerprint",
  "trainable",
  "trainable_reason",
  "labels",
  "policy_wait_seconds",
  "steps",
  "started_at",
  "ended_at",
] as const;

const counts = ["calls", "chains", "prompt_tokens", "completion_tokens"] as const;

type Value = string | number | null;
type Row = { readonly [column in (typeof changing)[number] | (typeof counts)[number] | "id" | "experiment_id" | "created_at"]: Value };

export function createRolloutRecords(db: Database, writer: Writer, redactor: Redactor, keys: RecordKeys): RolloutRecords {
  const insert = db.prepare(
    `INSERT INTO rollout (${changing.join(", ")}, id, experiment, created_at) VALUES (${changing.map(() => "?").join(", ")}, ?, ?, ?)`,
  );
  const update = db.prepare(`UPDATE rollout SET ${changing.map((column) => `${column} = ?`).join(", ")} WHERE key = ?`);
  const insertCounts = db.prepare(`INSERT INTO tally (${counts.join(", ")}, rollout) VALUES (?, ?, ?, ?, ?)`);
  const updateCounts = db.prepare(`UPDATE tally SET ${counts.map((column) => `${column} = ?`).join(", ")} WHERE rollout = ?`);
  const select = (rest: string) =>
    db.prepare<unknown[], Row>(
      `SELECT rollout.id AS id, experiment.id AS experiment_id, rollout.created_at AS created_at,
         ${[...changing.map((column) => `rollout.${column} AS ${column}`), ...counts.map((column) => `tally.${column} AS ${column}`)].join(", ")}
       FROM rollout JOIN experiment ON experiment.key = rollout.experiment JOIN tally ON tally.rollout = rollout.key ${rest}`,
    );
  const one = select("WHERE rollout.id = ?");
  const byKey = select("WHERE rollout.key = ?");
  const ofExperiment = select("WHERE rollout.experiment = ? ORDER BY rollout.key");
  const unfinished = select("WHERE rollout.phase <> 'ended' ORDER BY rollout.key");
  const addCall = db.prepare(
    "UPDATE tally SET calls = calls + 1, prompt_tokens = prompt_tokens + ?, completion_tokens = completion_tokens + ? WHERE rollout = ?",
  );

  const changes = createChangeMarks();

  function read(id: string): RolloutRecord | null {
    const row = one.get(id);
    return row === undefined ? null : toRecord(row);
  }

  return {
    createRollouts(records) {
      writer.write(() => {
        for (const record of records) {
          const { key } = keys.experiment(record.experimentId);
          try {
            const rollout = insert.run(...values(record, redactor), record.id, key, record.createdAt).lastInsertRowid;
            insertCounts.run(...countValues(record), rollout);
            changes.note(key, Number(rollout));
          } catch (error) {
            if (!isConstraint(error, "UNIQUE")) throw error;
            throw new WorkbenchError("store", `There is already a rollout ${record.id} in this data folder.`, "Give the new one another id.", {
              cause: error,
            });
          }
        }
      });
    },

    updateRollout(id, change: RolloutUpdate) {
      writer.write(() => {
        const { key, experiment } = keys.rollout(id);
        const record = read(id);
        if (record === null) return;
        const changed = { ...record, ...change };
        update.run(...values(changed, redactor), key);
        updateCounts.run(...countValues(changed), key);
        changes.note(experiment.key, key);
      });
    },

    rollout(id) {
      writer.flush();
      return read(id);
    },

    rolloutsOf(experimentId, changedAfter) {
      writer.flush();
      const experiment = keys.findExperiment(experimentId);
      if (experiment === null) return [];
      const changed = changedAfter === undefined ? null : changes.after(experiment.key, changedAfter);
      if (changed === null) return ofExperiment.all(experiment.key).map(toRecord);
      return changed.flatMap((key) => byKey.all(key)).map(toRecord);
    },

    rolloutMark(experimentId) {
      const experiment = keys.findExperiment(experimentId);
      return experiment === null ? 0 : changes.mark(experiment.key);
    },

    unfinishedRollouts() {
      writer.flush();
      return unfinished.all().map(toRecord);
    },

    count({ key, experiment }, promptTokens, completionTokens) {
      addCall.run(promptTokens, completionTokens, key);
      changes.note(experiment.key, key);
    },
  };
}

/** In the order of `changing`. */
function values(record: RolloutRecord, redactor: Redactor): readonly Value[] {
  const { outcome } = record;
  const json = (value: unknown): string | null => (value === null ? null : redactor.text(JSON.stringify(value)));
  const text = (value: string | null): string | null => (value === null ? null : redactor.text(value));
  return [
    redactor.text(record.taskName),
    record.taskDigest,
    redactor.text(record.taskPath),
    record.harness,
    record.harnessVersion,
    redactor.text(record.policy),
    text(record.policyVersion),
    record.sandbox,
    record.groupIndex,
    record.seed,
    record.phase,
    outcome?.status ?? null,
    outcome?.cause ?? null,
    outcome?.action ?? null,
    text(outcome?.detail ?? null),
    record.reward,
    json(record.rewards),
    record.attempts,
    redactor.text(JSON.stringify(record.phases)),
    json(record.isolation),
    json(record.fingerprint),
    record.trainable === null ? null : Number(record.trainable),
    text(record.trainableReason),
    redactor.text(JSON.stringify(record.labels)),
    record.policyWaitSeconds,
    redactor.text(JSON.stringify(record.steps)),
    record.startedAt,
    record.endedAt,
  ];
}

/** In the order of `counts`. */
function countValues(record: RolloutRecord): readonly number[] {
  return [record.calls, record.chains, record.promptTokens, record.completionTokens];
}

function toRecord(row: Row): RolloutRecord {
  return rolloutSchema.parse({
    id: row.id,
    experimentId: row.experiment_id,
    taskName: row.task_name,
    taskDigest: row.task_digest,
    taskPath: row.task_path,
    harness: row.harness,
    harnessVersion: row.harness_version,
    policy: row.policy,
    policyVersion: row.policy_version,
    sandbox: row.sandbox,
    groupIndex: row.group_index,
    seed: row.seed,
    phase: row.phase,
    outcome:
      row.outcome_status === null
        ? null
        : { status: row.outcome_status, cause: row.outcome_cause, action: row.outcome_action, detail: row.outcome_detail },
    reward: row.reward,
    rewards: parsed(row.rewards),
    attempts: row.attempts,
    phases: parsed(row.phases),
    isolation: parsed(row.isolation),
    fingerprint: parsed(row.fingerprint),
    calls: row.calls,
    chains: row.chains,
    promptTokens: row.prompt_tokens,
    completionTokens: row.completion_tokens,
    trainable: row.trainable,
    trainableReason: row.trainable_reason,
    labels: parsed(row.labels),
    policyWaitSeconds: row.policy_wait_seconds,
    steps: parsed(row.steps),
    createdAt: row.created_at,
    startedAt: row.started_at,
    endedAt: row.ended_at,
  });
}

function parsed(column: Value): unknown {
  return typeof column === "string" ? JSON.parse(column) : null;
}
