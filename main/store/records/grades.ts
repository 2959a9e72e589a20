import type { GradeRecord, Redactor, Store } from "../contract.ts";
import type { Database } from "../database.ts";
import type { Writer } from "../writer.ts";
import type { RecordKeys } from "./keys.ts";
import { gradeSchema } from "./schemas.ts";

const columns = [
  ...["attempt", "at", "status", "cause", "detail", "reward", "rewards", "steps", "seconds"],
  ...["source", "task_path", "task_digest", "verifier_digest"],
] as const;

type Value = string | number | null;

/** Grades of later verifiers: added, never changed. */
export function createGradeRecords(db: Database, writer: Writer, redactor: Redactor, keys: RecordKeys): Pick<Store, "addGrade" | "gradesOf"> {
  const insert = db.prepare(`INSERT INTO grade (rollout, ${columns.join(", ")}) VALUES (?, ${columns.map(() => "?").join(", ")})`);
  const all = db.prepare<[number], Readonly<Record<string, Value>>>(`SELECT ${columns.join(", ")} FROM grade WHERE rollout = ? ORDER BY key`);

  return {
    addGrade(record) {
      writer.write(() => {
        insert.run(keys.rollout(record.rolloutId).key, ...values(record, redactor));
      });
    },

    gradesOf(rolloutId) {
      writer.flush();
      const rollout = keys.findRollout(rolloutId);
      if (rollout === null) return [];
      return all.all(rollout.key).map((row) =>
        gradeSchema.parse({
          ...row,
          rolloutId,
          rewards: parsed(row.rewards),
          steps: parsed(row.steps),
          taskPath: row.task_path,
          taskDigest: row.task_digest,
          verifierDigest: row.verifier_digest,
        }),
      );
    },
  };
}

/** In the order of `columns`. */
function values(record: GradeRecord, redactor: Redactor): readonly Value[] {
  return [
    record.attempt,
    record.at,
    record.status,
    record.cause,
    record.detail === null ? null : redactor.text(record.detail),
    record.reward,
    record.rewards === null ? null : redactor.text(JSON.stringify(record.rewards)),
    redactor.text(JSON.stringify(record.steps)),
    record.seconds,
    record.source,
    redactor.text(record.taskPath),
    record.taskDigest,
    record.verifierDigest,
  ];
}

const parsed = (column: Value | undefined): unknown => (typeof column === "string" ? JSON.parse(column) : null);
