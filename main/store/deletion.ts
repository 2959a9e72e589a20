/** Deletes an experiment: its references are given back first, then the rows go by cascade. Space in packs is freed by a later collection. */
import type { BodyStore } from "./bodies/body-store.ts";
import type { Database } from "./database.ts";
import type { RecordKeys } from "./records/keys.ts";
import type { Writer } from "./writer.ts";

export function createDeletion(db: Database, writer: Writer, bodies: BodyStore, keys: RecordKeys): (experimentId: string) => void {
  const referenced = db.prepare<{ experiment: number }, { body: number; times: number }>(
    `WITH mine AS (SELECT key FROM rollout WHERE experiment = @experiment),
       calls AS (SELECT * FROM call WHERE rollout IN mine)
     SELECT body, count(*) AS times FROM (
       SELECT request_body AS body FROM calls
       UNION ALL SELECT response_body FROM calls
       UNION ALL SELECT upstream_request_body FROM calls
       UNION ALL SELECT upstream_response_body FROM calls
       UNION ALL SELECT body FROM attachment WHERE call IN (SELECT key FROM calls)
       UNION ALL SELECT body FROM artifact WHERE rollout IN mine
     ) WHERE body IS NOT NULL GROUP BY body`,
  );
  const remove = db.prepare("DELETE FROM experiment WHERE key = ?");

  return (experimentId) => {
    writer.write(() => {
      const { key } = keys.experiment(experimentId);
      for (const { body, times } of referenced.all({ experiment: key })) bodies.release(body, times);
      remove.run(key);
    });
    keys.clear();
  };
}
