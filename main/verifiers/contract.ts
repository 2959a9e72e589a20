/**
 * The executable check of a task. Its verdict is a reward file; everything that stops it from giving one is a `verifier-failure`
 * with a cause, never a reward of 0.
 */
import type { OutcomeCause } from "../../engine/outcome/index.ts";
import type { EgressConnection, SandboxProvider } from "../sandboxes/index.ts";
import type { Variables } from "../tasks/index.ts";

export interface VerifierResult {
  /** `succeeded` = the scalar reward reaches the task's `maxReward`. */
  readonly status: "succeeded" | "failed" | "verifier-failure";
  readonly cause: OutcomeCause | null;
  /** Scalar reward; null = none was given. */
  readonly reward: number | null;
  /** Every reward by name. */
  readonly rewards: Readonly<Record<string, number>> | null;
  /** One sentence for a person when there is no reward, else null. */
  readonly detail: string | null;
  readonly seconds: number;
  /** Exit code of the test script; null when it was killed or never ran. */
  readonly exitCode: number | null;
}

export interface VerifierOptions {
  /** Host folder that receives `test-stdout.txt`, the reward files and what else the verifier left in /logs/verifier. */
  readonly outputFolder: string;
  /** Where `${VAR}` in the package's env tables is looked up (the service's environment, declared secrets included). */
  readonly environment: Variables;
  /** Needed by a task whose verifier runs in a box of its own; without it such a task is a `verifier-failure`. */
  readonly provider?: SandboxProvider;
  readonly ownerId?: string;
  readonly rolloutId?: string;
  /** One step of several: its rewards need no scalar, for only those of the whole task do. It is then `failed` with a reward of null. */
  readonly ofStep?: boolean;
  readonly onProgress?: (line: string) => void;
  /** Hears of the connections of a box of the verifier's own. */
  readonly onConnection?: (connection: EgressConnection) => void;
  readonly signal?: AbortSignal;
}

export type RehearsalKind = "gold" | "empty" | "cheats";

export interface RehearsalOptions {
  readonly provider: SandboxProvider;
  readonly ownerId: string;
  /** Host folder; each run gets a subfolder with its output. */
  readonly outputFolder: string;
  readonly environment: Variables;
  readonly onProgress?: (line: string) => void;
  readonly signal?: AbortSignal;
}

/** One rehearsal run: the gold solution, nothing at all, or one cheat. */
export interface RehearsalResult {
  /** `gold`, `empty` or the cheat's name. */
  readonly name: string;
  readonly status: VerifierResult["status"] | "agent-timeout";
  readonly cause: OutcomeCause | null;
  readonly reward: number | null;
  readonly rewards: Readonly<Record<string, number>> | null;
  readonly detail: string | null;
  readonly seconds: number;
  /** Gold: succeeded. Empty and cheats: the reward is exactly 0. */
  readonly expected: boolean;
}
