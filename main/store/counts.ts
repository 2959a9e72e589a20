/** What reference counts must be, derived from the records that refer; and putting wrong ones right. */
import { decodeRecipe } from "./bodies/recipe.ts";
import type { StoreProblem } from "./contract.ts";
import type { Database } from "./database.ts";

interface CountedRow {
  readonly key: number;
  readonly refs: number;
}

/** Bodies that something refers to, with how often. */
const referencedBodies = `
  SELECT body, count(*) AS refs FROM (
    SELECT request_body AS body FROM call
    UNION ALL SELECT response_body FROM call WHERE response_body IS NOT NULL
    UNION ALL SELECT upstream_request_body FROM call WHERE upstream_request_body IS NOT NULL
    UNION ALL SELECT upstream_response_body FROM call WHERE upstream_response_body IS NOT NULL
    UNION ALL SELECT body FROM attachment
    UNION ALL SELECT body FROM artifact
  ) GROUP BY body`;

/** Bodies that a record names and that have no row. */
export function missingBodies(db: Database): number {
  const row = db
    .prepare<[], { count: number }>(
      `SELECT count(*) AS count FROM (${referencedBodies}) AS r WHERE NOT EXISTS (SELECT 1 FROM body WHERE key = r.body)`,
    )
    .get();
  return row?.count ?? 0;
}

/** Inside a write: corrects every count that is wrong and says which kind was. */
export function repairCounts(db: Database): readonly StoreProblem[] {
  const wrongBodies = db
    .prepare<[], CountedRow>(
      `SELECT body.key AS key, ifnull(r.refs, 0) AS refs FROM body LEFT JOIN (${referencedBodies}) AS r ON r.body = body.key
       WHERE body.refs <> ifnull(r.refs, 0)`,
    )
    .all();
  const setBody = db.prepare<[number, number]>("UPDATE body SET refs = ? WHERE key = ?");
  for (const row of wrongBodies) setBody.run(row.refs, row.key);

  const counts = new Map<number, number>();
  for (const { recipe } of db.prepare<[], { recipe: Uint8Array }>("SELECT recipe FROM body WHERE recipe IS NOT NULL").iterate())
    for (const run of decodeRecipe(recipe)) for (let key = run.first; key < run.first + run.count; key++) counts.set(key, (counts.get(key) ?? 0) + 1);
  const wrongChunks = db
    .prepare<[], CountedRow>("SELECT key, refs FROM chunk")
    .all()
    .filter((row) => row.refs !== (counts.get(row.key) ?? 0));
  const setChunk = db.prepare<[number, number]>("UPDATE chunk SET refs = ? WHERE key = ?");
  for (const row of wrongChunks) setChunk.run(counts.get(row.key) ?? 0, row.key);

  return [
    ...(wrongBodies.length === 0 ? [] : [countProblem("bodies", wrongBodies.length)]),
    ...(wrongChunks.length === 0 ? [] : [countProblem("chunks", wrongChunks.length)]),
  ];
}

function countProblem(kind: string, count: number): StoreProblem {
  return { where: `reference counts of ${kind}`, message: `${count} did not match the records that refer; they were set right.`, repaired: true };
}
