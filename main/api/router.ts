/** Every procedure of the contract with its handler. */
import type { WorkbenchParts } from "./context.ts";
import { analysisHandlers } from "./handlers/analysis.ts";
import { attachHandlers } from "./handlers/attach.ts";
import { callHandlers } from "./handlers/calls.ts";
import { experimentHandlers } from "./handlers/experiments.ts";
import { exportHandlers } from "./handlers/exports.ts";
import { harnessHandlers } from "./handlers/harnesses.ts";
import { policyHandlers } from "./handlers/policies.ts";
import { blobHandlers, rolloutHandlers } from "./handlers/rollouts.ts";
import { systemHandlers } from "./handlers/system.ts";
import { taskHandlers } from "./handlers/tasks.ts";
import { trainingHandlers } from "./handlers/training.ts";
import { contractImplementer } from "./implementer.ts";

export function createRouter(parts: WorkbenchParts & { readBlob: (hash: string) => Uint8Array | null }) {
  const os = contractImplementer();
  return os.router({
    system: systemHandlers(os, parts),
    experiments: experimentHandlers(os, parts),
    rollouts: rolloutHandlers(os, parts),
    calls: callHandlers(os, parts),
    blobs: blobHandlers(os, parts),
    tasks: taskHandlers(os, parts),
    harnesses: harnessHandlers(os, parts),
    policies: policyHandlers(os, parts),
    training: trainingHandlers(os, parts),
    attach: attachHandlers(os, parts),
    analysis: analysisHandlers(os, parts),
    exports: exportHandlers(os, parts),
  });
}
