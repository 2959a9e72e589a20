/** Training runs of one data folder. */
import { WorkbenchError } from "../errors.ts";
import type { TrainingService } from "./contract.ts";

export function createTrainingService(): TrainingService {
  const missing = (id: string): never => {
    throw new WorkbenchError("not-found", `There is no training run ${id}.`, "Start one with `openforge train RUN.yaml`.");
  };
  return {
    list: () => [],
    get: missing,
    check: async () => ({ valid: false, faults: [], summary: [] }),
    start: async () => missing("yet"),
    starterRun: () => missing("starter"),
    follow: async (id) => missing(id),
    pause: async (id) => missing(id),
    resume: async (id) => missing(id),
    checkpoint: async (id) => missing(id),
    cancel: async (id) => missing(id),
    step: missing,
    stepTokens: missing,
    resumeUnfinished: async () => undefined,
    close: async () => undefined,
  };
}
