/** A workbench of its own for a study: an empty data folder that is removed afterwards. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ExperimentSpecInput, experimentSpecSchema } from "../../../main/api/views.ts";
import { bootWorkbench, type Workbench } from "../../../main/boot.ts";
import type { RolloutRecord } from "../../../main/store/index.ts";

export interface StudyBench {
  readonly workbench: Workbench;
  /** For tasks and run files of the study. */
  readonly folder: string;
  run(spec: ExperimentSpecInput): Promise<readonly RolloutRecord[]>;
}

export async function withWorkbench<T>(work: (bench: StudyBench) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "openforge-study-"));
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
    await rm(folder, { recursive: true, force: true });
  }
}
