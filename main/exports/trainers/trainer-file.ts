import type { TrainingRow } from "../rows/training-row.ts";

/** What a format makes a file of. `rows` may be asked for more than once and gives the same each time. */
export interface TrainerFile {
  readonly path: string;
  rows(): AsyncIterable<TrainingRow>;
  /** A row that the format cannot carry. */
  leaveOut(row: TrainingRow, reason: string): void;
  /** A sentence about the file. */
  note(sentence: string): void;
}

export const unsayable = "holds images or items that this format cannot carry";

/** What our tools read back: where the row came from. No trainer uses it. */
export function origin({ rollout, chain, step, policyVersions }: TrainingRow) {
  return {
    rollout: rollout.id,
    chain,
    task: rollout.taskName,
    task_digest: rollout.taskDigest,
    harness: rollout.harness,
    harness_version: rollout.harnessVersion,
    policy: rollout.policy,
    policy_versions: policyVersions,
    ...(step === null ? {} : { step }),
  };
}

/** The advantage of each token, 0 where the mask is; null where none was asked for. */
export function advantageList(row: TrainingRow): readonly number[] | null {
  return row.tokens?.advantages == null ? null : Array.from(row.tokens.advantages);
}
