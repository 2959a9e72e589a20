/** Reads everything once: the database's own checks, every body against its hash, every node against its parent. Changes nothing. */
import { hash as digest } from "node:crypto";
import type { BodyReader } from "../bodies/body-reader.ts";
import type { StoreProblem } from "../contract.ts";
import { missingBodies } from "../counts.ts";
import type { Database } from "../database.ts";

/** Rows read at a time: a reader that holds one snapshot for long keeps the write-ahead log from shrinking. */
const page = 500;

export function* verifyStore(db: Database, reader: BodyReader): Generator<StoreProblem> {
  const integrity = db.prepare<[], { integrity_check: string }>("PRAGMA integrity_check(20)").all();
  for (const row of integrity) if (row.integrity_check !== "ok") yield broken("database", `SQLite found: ${row.integrity_check}.`);
  for (const row of db.prepare<[], { table: string; rowid: number }>("PRAGMA foreign_key_check").all())
    yield broken(`table ${row.table}, row ${row.rowid}`, "It refers to a record that is gone.");
  const missing = missingBodies(db);
  if (missing > 0) yield broken("bodies", `${missing} bodies that calls or artifacts refer to have no row.`);
  yield* verifyBodies(db, reader);
  yield* verifyNodes(db);
}

function* verifyBodies(db: Database, reader: BodyReader): Generator<StoreProblem> {
  const rows = db.prepare<
    [number, number],
    { key: number; hash: Buffer; size: number; journal: number | null; offset: number | null; recipe: Uint8Array | null }
  >("SELECT key, hash, size, journal, offset, recipe FROM body WHERE key > ? ORDER BY key LIMIT ?");
  for (let after = 0; ; ) {
    const some = rows.all(after, page);
    for (const row of some) {
      const hash = row.hash.toString("hex");
      try {
        const bytes = reader.read({ ...row, hash });
        if (digest("sha256", bytes, "hex") !== hash) yield broken(`body ${hash.slice(0, 12)}…`, "Its bytes are not those that were stored.");
      } catch (error) {
        yield broken(`body ${hash.slice(0, 12)}…`, error instanceof Error ? error.message : String(error));
      }
    }
    const last = some.at(-1);
    if (last === undefined) return;
    after = last.key;
  }
}

function* verifyNodes(db: Database): Generator<StoreProblem> {
  const rows = db.prepare<
    [number, number],
    {
      key: number;
      call: string;
      parent: number | null;
      known: number | null;
      added: number;
      sampled: number;
      logprobs: number;
      prompt: number;
      before: number | null;
    }
  >(
    `SELECT node.call AS key, call.id AS call, node.parent AS parent, up.call AS known, length(node.added_prompt_ids) / 4 AS added,
       length(node.sampled_ids) / 4 AS sampled, length(node.logprobs) / 4 AS logprobs, node.prompt_length AS prompt,
       up.prompt_length + length(up.sampled_ids) / 4 AS before
     FROM node JOIN call ON call.key = node.call LEFT JOIN node AS up ON up.call = node.parent
     WHERE node.call > ? ORDER BY node.call LIMIT ?`,
  );
  for (let after = 0; ; ) {
    const some = rows.all(after, page);
    for (const row of some) {
      if (row.parent !== null && row.known === null) yield broken(`call ${row.call}`, "The call that its tokens continue is gone.");
      else if ((row.before ?? 0) + row.added !== row.prompt) yield broken(`call ${row.call}`, "Its stored tokens do not add up to its prompt.");
      if (row.logprobs !== 0 && row.logprobs !== row.sampled)
        yield broken(`call ${row.call}`, "It has another number of log-probabilities than of tokens.");
    }
    const last = some.at(-1);
    if (last === undefined) return;
    after = last.key;
  }
}

function broken(where: string, message: string): StoreProblem {
  return { where, message, repaired: false };
}
