/** Grading: running a task's verifier safely, reading its reward strictly, and rehearsing a task before it is used. */
export * from "./contract.ts";
export { rehearseTask } from "./rehearse-task.ts";
export { runVerifier } from "./run-verifier.ts";
