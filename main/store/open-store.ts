/**
 * Opens the store of a data folder: `workbench.db` (records) and `blobs/` (bodies: journals, then packs).
 *
 * A call costs one commit. Its bodies go to the journal as they are, less what they share with the body before; hashing, chunking and
 * compression for packs happen later in a worker thread. Order makes it safe: body bytes are written before the commit that names them,
 * packs are synced before the journal they replace is removed. So after kill -9 the database names only whole records, and what it does
 * not name is thrown away or set aside by the next start.
 *
 * Measured on 2 cores (`npm run bench -- store-speed store-size`): a call with a 20 KB body takes 0.07 to 0.15 ms of the event loop when
 * several commit together, 0.3 ms alone; 100 calls growing to 100k tokens take 1.1 times `zstd -19 --long` of their JSON lines.
 */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { createBackground } from "./background/background.ts";
import { createBodyStore } from "./bodies/body-store.ts";
import { createJournals } from "./bodies/journals.ts";
import { PackWriter, packNumber } from "./bodies/pack.ts";
import { recoverBodies } from "./bodies/recovery.ts";
import type { Store } from "./contract.ts";
import { repairCounts } from "./counts.ts";
import { databaseFile, openDatabase } from "./database.ts";
import { createDeletion } from "./deletion.ts";
import { createDiskGuard, diskFull } from "./disk-guard.ts";
import { isDiskFull } from "./errors.ts";
import { lockFolder } from "./folder-lock.ts";
import { makeFolder } from "./make-folder.ts";
import { createArtifactRecords } from "./records/artifacts.ts";
import { createCallRecords } from "./records/calls.ts";
import { createEventRecords } from "./records/events.ts";
import { createExperimentRecords } from "./records/experiments.ts";
import { createGradeRecords } from "./records/grades.ts";
import { createRecordKeys } from "./records/keys.ts";
import { refuseBigEndian } from "./records/numbers.ts";
import { createRolloutRecords } from "./records/rollouts.ts";
import { createSettingRecords } from "./records/settings.ts";
import { createRedactor } from "./redaction/redactor.ts";
import { createUpkeep } from "./upkeep.ts";
import { createWriter } from "./writer.ts";

export interface StoreOptions {
  /** `process`: a record survives kill -9 (the default). `power`: every commit is synchronous and survives a power failure too. */
  readonly durability?: "process" | "power";
  /** Free bytes below which bodies and calls are refused with a sentence, before the disk is full. Default 256 MB. */
  readonly reserveBytes?: number;
}

const defaultReserveBytes = 256 * 1024 * 1024;

/** Opens (or makes) the store of a data folder and locks the folder for this process. Throws with a sentence when it cannot. */
export function openStore(dataFolder: string, options: StoreOptions = {}): Store {
  refuseBigEndian();
  const bodyFolder = join(dataFolder, "blobs");
  makeFolder(dataFolder);
  makeFolder(bodyFolder);
  const lock = lockFolder(dataFolder);
  try {
    return assemble(dataFolder, bodyFolder, options, () => lock.release());
  } catch (error) {
    lock.release();
    throw error;
  }
}

function assemble(dataFolder: string, bodyFolder: string, options: StoreOptions, unlock: () => void): Store {
  const power = options.durability === "power";
  const db = openDatabase(dataFolder, power ? "FULL" : "NORMAL");
  const recovered = recoverBodies(db, bodyFolder);
  const redactor = createRedactor();
  const guard = createDiskGuard(dataFolder, options.reserveBytes ?? defaultReserveBytes);
  const explain = (error: unknown) => (isDiskFull(error) ? diskFull(dataFolder, null, error) : error);
  const journals = createJournals(bodyFolder, recovered.nextJournal, { power, explain });
  const packs = new PackWriter(bodyFolder, recovered.lastPack.number, recovered.lastPack.size);
  const keys = createRecordKeys(db);
  const bodies = createBodyStore(db, bodyFolder, redactor, guard, journals);
  const writer = createWriter(db, {
    beforeCommit: journals.flush,
    committed() {
      bodies.committed();
      upkeep.noteWrite();
      events.committed();
    },
    rolledBack() {
      bodies.rolledBack();
      events.rolledBack();
      keys.clear();
    },
    explain,
  });
  const events = createEventRecords(db, writer, redactor, keys);
  const rollouts = createRolloutRecords(db, writer, redactor, keys);
  const calls = createCallRecords({ db, writer, redactor, bodies, keys, rollouts, events });
  const background = createBackground(dataFolder, bodyFolder);
  const upkeep = createUpkeep({ dataFolder, db, writer, bodies, journals, packs, background, explain });

  function releaseUnreferenced(): void {
    const rows = db.prepare<[], { key: number }>("SELECT key FROM body WHERE refs <= 0").all();
    if (rows.length > 0)
      writer.write(() => {
        for (const { key } of rows) bodies.release(key, 0);
      });
  }
  releaseUnreferenced();

  let open = true;
  return {
    dataFolder,
    repairs: recovered.problems,
    redactor,
    blobs: bodies,
    ...createExperimentRecords(db, writer, redactor, keys),
    ...rollouts,
    ...calls,
    ...events,
    ...createArtifactRecords({ db, writer, redactor, bodies, keys }),
    ...createGradeRecords(db, writer, redactor, keys),
    ...createSettingRecords(db, writer, redactor),
    deleteExperiment: createDeletion(db, writer, bodies, keys),

    atomically: (work) => writer.write(work),

    async check() {
      const found = await upkeep.verify();
      const counts = writer.write(() => repairCounts(db));
      releaseUnreferenced();
      return [...recovered.problems.filter((problem) => !problem.repaired), ...found, ...counts];
    },

    usage() {
      const size = (name: string) => statSync(join(dataFolder, name), { throwIfNoEntry: false })?.size ?? 0;
      const packFiles = readdirSync(bodyFolder).filter((name) => packNumber(name) !== null);
      return {
        databaseBytes: size(databaseFile) + size(`${databaseFile}-wal`),
        packBytes: packFiles.reduce((sum, name) => sum + size(join("blobs", name)), journals.bytes()),
      };
    },

    compact: () => upkeep.compact(),

    close() {
      if (!open) return;
      open = false;
      closeAll([
        () => writer.flush(),
        upkeep.close,
        background.close,
        journals.close,
        () => packs.close(),
        () => bodies.close(),
        () => db.close(),
        unlock,
      ]);
    },
  };
}

/** Does every step, whatever happens in one, and then throws the first error. */
function closeAll(steps: readonly (() => void)[]): void {
  const errors: unknown[] = [];
  for (const step of steps) {
    try {
      step();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}
