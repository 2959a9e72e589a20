/** Events: appended only, numbered over the whole data folder, told to listeners after their commit and in order. */
import type { EventRecord, Redactor, Store } from "../contract.ts";
import type { Database } from "../database.ts";
import type { Writer } from "../writer.ts";
import type { RecordKeys } from "./keys.ts";

type EventFields = Omit<EventRecord, "sequence">;

export interface EventRecords extends Pick<Store, "appendEvent" | "eventsAfter" | "lastSequence" | "onEvent"> {
  /** Inside a write. */
  add(event: EventFields): EventRecord;
  committed(): void;
  rolledBack(): void;
}

export function createEventRecords(db: Database, writer: Writer, redactor: Redactor, keys: RecordKeys): EventRecords {
  const listeners = new Set<(event: EventRecord) => void>();
  let newest = db.prepare<[], { sequence: number | null }>("SELECT max(sequence) AS sequence FROM event").get()?.sequence ?? 0;
  let uncommitted: EventRecord[] = [];
  const undelivered: EventRecord[] = [];
  let delivering = false;

  const insert = db.prepare("INSERT INTO event (at, experiment, rollout, type, payload) VALUES (?, ?, ?, ?, ?)");
  const select = (where: string) =>
    db.prepare<unknown[], EventRecord>(
      `SELECT e.sequence, e.at, experiment.id AS experimentId, rollout.id AS rolloutId, e.type, e.payload
       FROM event AS e LEFT JOIN experiment ON experiment.key = e.experiment LEFT JOIN rollout ON rollout.key = e.rollout
       WHERE ${where} e.sequence > ? ORDER BY e.sequence LIMIT ?`,
    );
  const after = select("");
  const afterOfExperiment = select("e.experiment = ? AND");
  const afterOfRollout = select("e.rollout = ? AND");

  /** A listener that throws is its owner's fault: it is reported and stops neither the write nor the other listeners. */
  function deliver(): void {
    if (delivering) return;
    delivering = true;
    for (let event = undelivered.shift(); event !== undefined; event = undelivered.shift())
      for (const listener of listeners) {
        try {
          listener(event);
        } catch (error) {
          process.emitWarning(error instanceof Error ? error : String(error), { code: "EVENT_LISTENER" });
        }
      }
    delivering = false;
  }

  function add(event: EventFields): EventRecord {
    const rollout = event.rolloutId === null ? null : keys.rollout(event.rolloutId);
    const experiment = event.experimentId === null ? (rollout?.experiment ?? null) : keys.experiment(event.experimentId);
    const payload = redactor.text(event.payload);
    const { lastInsertRowid } = insert.run(event.at, experiment?.key ?? null, rollout?.key ?? null, event.type, payload);
    const record: EventRecord = {
      sequence: Number(lastInsertRowid),
      at: event.at,
      experimentId: experiment?.id ?? null,
      rolloutId: event.rolloutId,
      type: event.type,
      payload,
    };
    uncommitted.push(record);
    return record;
  }

  return {
    add,
    appendEvent: (event) => writer.write(() => add(event)),
    eventsAfter(sequence, limit, filter = {}) {
      writer.flush();
      if (filter.rolloutId !== undefined) {
        const rollout = keys.findRollout(filter.rolloutId);
        return rollout === null ? [] : afterOfRollout.all(rollout.key, sequence, limit);
      }
      if (filter.experimentId !== undefined) {
        const experiment = keys.findExperiment(filter.experimentId);
        return experiment === null ? [] : afterOfExperiment.all(experiment.key, sequence, limit);
      }
      return after.all(sequence, limit);
    },
    lastSequence: () => newest,
    onEvent(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    committed() {
      if (uncommitted.length === 0) return;
      newest = uncommitted.at(-1)?.sequence ?? newest;
      undelivered.push(...uncommitted);
      uncommitted = [];
      deliver();
    },
    rolledBack() {
      uncommitted = [];
    },
  };
}
