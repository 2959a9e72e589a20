/** What stopped an attempt, from the phase it was in and the error that ended it. */
import { type AttemptStop, type OutcomeCause, outcomeCauses, type RolloutPhase } from "../../engine/outcome/index.ts";
import { type ErrorCode, WorkbenchError } from "../errors.ts";
import { PhaseTimeout } from "./phases.ts";

/** The outer guard around all phases fired. */
export class GuardTimeout extends Error {
  constructor(budgetMs: number) {
    super(`The rollout did not end within ${Math.round(budgetMs / 60_000)} minutes, all phases together; it was stopped.`);
  }
}

/** Never throws: a bug of ours ends one rollout, as an environment failure that says so, and never its siblings. */
export function stopOf(phase: RolloutPhase, error: unknown): AttemptStop {
  if (error instanceof GuardTimeout) return { phase, cause: "budget-exceeded", detail: error.message, permanent: true };
  if (error instanceof PhaseTimeout) {
    const cause = causeOfTimeout(phase);
    return { phase, cause, detail: error.message, permanent: cause === "budget-exceeded" };
  }
  const named = namedCause(error);
  if (named !== null) return { phase, cause: named, detail: sentence(error), permanent: permanentCauses.includes(named) };
  if ((error as NodeJS.ErrnoException | null)?.code === "ENOSPC") return { phase, cause: "disk-full", detail: "The disk is full.", permanent: true };
  if (error instanceof WorkbenchError)
    return { phase, cause: causeOfCode(error.code), detail: sentence(error), permanent: error.code !== "upstream" && error.code !== "sandbox" };
  console.error(error);
  return { phase, cause: "setup-failed", detail: `A fault of the workbench in the phase ${phase}: ${sentence(error)}`, permanent: true };
}

const permanentCauses: readonly OutcomeCause[] = ["image-build", "disk-full", "egress-denied"];

/** The outcome cause that whoever threw put into the error. */
function namedCause(error: unknown): OutcomeCause | null {
  if (!(error instanceof WorkbenchError)) return null;
  return outcomeCauses.find((cause) => cause === error.cause) ?? null;
}

function causeOfTimeout(phase: RolloutPhase): OutcomeCause {
  switch (phase) {
    case "queued":
    case "preparing":
    case "starting":
    case "setup":
      return "setup-timeout";
    case "verifying":
      return "verifier-timeout";
    case "running":
      // The agent's own clock did not end it: its calls waited too long for their policy.
      return "budget-exceeded";
    case "stopping":
    case "collecting":
    case "ended":
      return "sandbox-lost";
  }
}

function causeOfCode(code: ErrorCode): OutcomeCause {
  switch (code) {
    case "harness":
      return "harness-missing";
    case "upstream":
      return "upstream-unreachable";
    case "verifier":
      return "verifier-broken";
    case "store":
      // The store refuses to write when the disk runs full.
      return "disk-full";
    case "sandbox":
    case "protocol":
    case "task":
    case "usage":
    case "unavailable":
    case "not-found":
      return "setup-failed";
  }
}

function sentence(error: unknown): string {
  if (error instanceof WorkbenchError) return `${error.message} ${error.remedy}`;
  return error instanceof Error ? error.message : String(error);
}
