/** A workbench of its own for a study: an empty data folder that is removed afterwards, or one that is kept. */
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ExperimentSpecInput, experimentSpecSchema } from "../../../main/api/experiment-views.ts";
import { bootWorkbench, type Workbench } from "../../../main/boot.ts";
import type { RolloutRecord } from "../../../main/store/index.ts";
import type { StudyOptions } from "./study.ts";

export interface StudyBench {
  readonly workbench: Workbench;
  /** For tasks and run files of the study. */
  readonly folder: string;
  run(spec: ExperimentSpecInput): Promise<readonly RolloutRecord[]>;
}

export async function withWorkbench<T>({ data }: Pick<StudyOptions, "data">, work: (bench: StudyBench) => Promise<T>): Promise<T> {
  const folder = data ?? (await mkdtemp(join(tmpdir(), "openforge-study-")));
  await mkdir(folder, { recursive: true });
  const workbench = await bootWorkbench({ dataFolder: join(folder, "data") });
  try {
    return await work({
      workbench,
      folder,
      async run(spec) {
        const id = await workbench.rollouts.startExperiment(experimentSpecSchema.parse(spec));
        await workbench.rollouts.settled(id);
        return workbench.store.rolloutsOf(id);
      },
    });
  } finally {
    await workbench.close();
    if (data === null) await rm(folder, { recursive: true, force: true });
  }
}
