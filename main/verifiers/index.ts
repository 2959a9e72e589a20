/** Grading: running a task's verifier safely, reading its reward strictly, and rehearsing a task before it is used. */

export { type ArtifactPlace, downloadArtifact } from "./artifact-download.ts";
export { runCollectHooks } from "./collect-hooks.ts";
export * from "./contract.ts";
export { clearFolders, stepFolders } from "./ground.ts";
export { rehearseTask } from "./rehearse-task.ts";
export { runVerifier } from "./run-verifier.ts";
export { gradeOfSteps, stepsEndAfter } from "./step-grade.ts";
export { verifierDigest } from "./verifier-digest.ts";
