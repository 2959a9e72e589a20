/** Harbor task packages: read, checked, named by their digest, made from a template, and laid out in a sandbox. */

export { leavesOut } from "./artifact-patterns.ts";
export { checkTask } from "./check-task.ts";
export * from "./contract.ts";
export { createTask } from "./create-task.ts";
export { carriedArtifacts, mainService } from "./harbor/artifact-entry.ts";
export { plainConfig, readTaskToml } from "./harbor/read-task-toml.ts";
export { importTask } from "./import-task.ts";
export { lackingVariables } from "./lacking-variables.ts";
export { digestFiles, taskChecksum, taskDigest } from "./package/package-digest.ts";
export { selectFiles } from "./package/package-files.ts";
export { PackageMemory } from "./package/package-memory.ts";
export { packagesIn } from "./packages-in.ts";
export { recordedTask } from "./recorded-task.ts";
export { runsOf } from "./task-model.ts";
export {
  layOutStep,
  layOutTask,
  networksOf,
  sandboxRequest,
  setupLimitMs,
  sharedVerifierNetwork,
} from "./task-sandbox.ts";
export { resolveHeaders, resolveVariables, type Variables } from "./variables.ts";
