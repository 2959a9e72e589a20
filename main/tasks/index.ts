/** Harbor task packages: read, checked, named by their digest, made from a template, and laid out in a sandbox. */
export { checkTask } from "./check-task.ts";
export * from "./contract.ts";
export { createTask } from "./create-task.ts";
export { plainConfig, readTaskToml } from "./harbor/read-task-toml.ts";
export { importTask } from "./import-task.ts";
export { digestFiles, taskChecksum, taskDigest } from "./package/package-digest.ts";
export { selectFiles } from "./package/package-files.ts";
export { PackageMemory } from "./package/package-memory.ts";
export { recordedTask } from "./recorded-task.ts";
export { taskOfStep } from "./task-model.ts";
export { defaultWorkdir, layOutTask, sandboxRequest } from "./task-sandbox.ts";
export { resolveHeaders, resolveVariables, type Variables } from "./variables.ts";
