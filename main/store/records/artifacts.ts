import type { BodyStore } from "../bodies/body-store.ts";
import type { ArtifactRecord, Redactor, Store } from "../contract.ts";
import type { Database } from "../database.ts";
import type { Writer } from "../writer.ts";
import type { RecordKeys } from "./keys.ts";
import { artifactSchema } from "./schemas.ts";

export interface ArtifactParts {
  readonly db: Database;
  readonly writer: Writer;
  readonly redactor: Redactor;
  readonly bodies: BodyStore;
  readonly keys: RecordKeys;
}

/** Artifacts of rollouts; a second one of the same attempt, kind and name takes the place of the first. */
export function createArtifactRecords(parts: ArtifactParts): Pick<Store, "addArtifact" | "artifactsOf"> {
  const { db, writer, redactor, bodies, keys } = parts;
  const earlier = db.prepare<[number, number, string, string], { key: number; body: number }>(
    "SELECT key, body FROM artifact WHERE rollout = ? AND attempt = ? AND kind = ? AND name = ?",
  );
  const insert = db.prepare("INSERT INTO artifact (rollout, attempt, kind, name, body, size) VALUES (?, ?, ?, ?, ?, ?)");
  const replace = db.prepare("UPDATE artifact SET body = ?, size = ? WHERE key = ?");
  const all = db.prepare<[number], Omit<ArtifactRecord, "blob" | "rolloutId"> & { hash: Buffer | null }>(
    `SELECT attempt, kind, name, hash, artifact.size AS size FROM artifact LEFT JOIN body ON body.key = artifact.body
     WHERE rollout = ? ORDER BY attempt, artifact.key`,
  );

  return {
    addArtifact(record) {
      writer.write(() => {
        const rollout = keys.rollout(record.rolloutId);
        const name = redactor.text(record.name);
        const before = earlier.get(rollout.key, record.attempt, record.kind, name);
        const body = bodies.refer(record.blob, rollout.key);
        if (before === undefined) insert.run(rollout.key, record.attempt, record.kind, name, body, record.size);
        else {
          replace.run(body, record.size, before.key);
          bodies.release(before.body, 1);
        }
      });
    },

    artifactsOf(rolloutId) {
      const rollout = keys.findRollout(rolloutId);
      if (rollout === null) return [];
      return all.all(rollout.key).map(({ hash, ...row }) => artifactSchema.parse({ ...row, rolloutId, blob: hash?.toString("hex") }));
    },
  };
}
