import type { OutcomeCause } from "../../engine/outcome/index.ts";
import { WorkbenchError } from "../errors.ts";

export type SandboxCause = Extract<OutcomeCause, "image-pull" | "image-build" | "disk-full" | "sandbox-lost" | "setup-failed">;

const causes: readonly SandboxCause[] = ["image-pull", "image-build", "disk-full", "sandbox-lost", "setup-failed"];

/** A failure of the box itself. `cause` is the outcome cause of a rollout that ends by it. */
export function sandboxError(cause: SandboxCause, message: string, remedy: string): WorkbenchError {
  return new WorkbenchError("sandbox", message, remedy, { cause });
}

/** The outcome cause that a sandbox put into an error, or null when the error came from elsewhere. */
export function sandboxCauseOf(error: unknown): SandboxCause | null {
  if (!(error instanceof WorkbenchError)) return null;
  return causes.find((cause) => cause === error.cause) ?? null;
}

export function sandboxLost(what: string): WorkbenchError {
  return sandboxError("sandbox-lost", `The sandbox is gone: ${what}.`, "Run the rollout again; look for an out-of-memory kill on this machine.");
}

/** What this machine, or this kind of sandbox, cannot do. Exit code 3. */
export function unavailable(message: string, remedy: string): WorkbenchError {
  return new WorkbenchError("unavailable", message, remedy);
}
