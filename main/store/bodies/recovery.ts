/**
 * Puts in order what a stop at any moment can leave in the folder of bodies. Rows name only whole records and whole frames, for those
 * are written before their commit; so what no row names is the rest of unacknowledged work:
 * a torn end of a journal (set aside), the end of a pack from an unfinished compaction (dropped; its bodies are still in the journal),
 * journals whose bodies are all in packs or were never referred to (removed). Rows without references are released by the caller.
 */
import { existsSync, mkdirSync, readdirSync, truncateSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { StoreProblem } from "../contract.ts";
import type { Database } from "../database.ts";
import { JournalReader, journalNumber, journalPath } from "./journal.ts";
import { packLength, packNumber, packPath } from "./pack.ts";

export interface Recovered {
  readonly problems: readonly StoreProblem[];
  readonly nextJournal: number;
  readonly lastPack: { readonly number: number; readonly size: number };
}

export function recoverBodies(db: Database, folder: string): Recovered {
  const problems: StoreProblem[] = [];
  const files = readdirSync(folder);
  const inUse = new Set(
    db
      .prepare<[], { journal: number }>("SELECT DISTINCT journal FROM body WHERE journal IS NOT NULL")
      .all()
      .map((row) => row.journal),
  );
  const journals = files.map(journalNumber).filter((number) => number !== null);
  for (const number of journals) {
    problems.push(...setTornPartsAside(folder, number));
    if (!inUse.has(number)) unlinkSync(journalPath(folder, number));
  }
  for (const number of inUse)
    if (!journals.includes(number))
      problems.push({ where: journalPath("", number), message: "This journal is gone, and with it bodies that calls refer to.", repaired: false });

  const committed = new Map(
    db
      .prepare<[], { pack: number; size: number }>("SELECT pack, max(offset + stored) AS size FROM frame GROUP BY pack")
      .all()
      .map((row) => [row.pack, row.size]),
  );
  for (const number of files.map(packNumber).filter((number) => number !== null)) {
    const problem = trimPack(folder, number, committed.get(number) ?? 0);
    if (problem !== null) problems.push(problem);
  }
  for (const number of committed.keys())
    if (!existsSync(packPath(folder, number)))
      problems.push({ where: packPath("", number), message: "This pack is gone, and with it bodies that calls refer to.", repaired: false });

  const lastPack = Math.max(1, ...committed.keys());
  return {
    problems,
    nextJournal: Math.max(0, ...journals, ...inUse) + 1,
    lastPack: { number: lastPack, size: committed.get(lastPack) ?? 0 },
  };
}

function setTornPartsAside(folder: string, number: number): readonly StoreProblem[] {
  const reader = new JournalReader(folder, number);
  try {
    return reader.scan().torn.map((part) => {
      const aside = join(folder, "set-aside");
      mkdirSync(aside, { recursive: true, mode: 0o700 });
      const name = `journal-${number}-${part.offset}.part`;
      writeFileSync(join(aside, name), reader.bytes(part.offset, part.length), { mode: 0o600 });
      if (part.offset + part.length === reader.size) truncateSync(reader.path, part.offset);
      return {
        where: journalPath("", number),
        message: `${part.length} bytes at ${part.offset} are no whole record (a write that a stop cut short); they were set aside as ${name}.`,
        repaired: true,
      };
    });
  } finally {
    reader.close();
  }
}

function trimPack(folder: string, number: number, committed: number): StoreProblem | null {
  const path = packPath(folder, number);
  const length = packLength(path);
  const where = packPath("", number);
  if (length < committed)
    return { where, message: `The pack ends ${committed - length} bytes early; bodies in that part are lost.`, repaired: false };
  if (length === committed) return null;
  if (committed === 0) unlinkSync(path);
  else truncateSync(path, committed);
  return {
    where,
    message: `${length - committed} bytes of a compaction that did not finish were dropped; its bodies are still in the journal.`,
    repaired: true,
  };
}
