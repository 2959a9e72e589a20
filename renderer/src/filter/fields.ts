/** What the filter language can ask of a rollout. One row a key: its kind, what it reads, an example. */
import type { RolloutView } from "../service/views.ts";

interface TextField {
  readonly kind: "text";
  readonly read: (rollout: RolloutView, experiment: string) => readonly (string | null)[];
}
interface NumberField {
  readonly kind: "number";
  readonly read: (rollout: RolloutView) => number | null;
}
interface YesNoField {
  readonly kind: "yes-no";
  readonly read: (rollout: RolloutView) => boolean | null;
}
export type Field = (TextField | NumberField | YesNoField) & { readonly about: string; readonly example: string };

export const fields: Readonly<Record<string, Field>> = {
  experiment: { kind: "text", about: "name of the experiment", example: 'experiment:"sweep 07"', read: (_, experiment) => [experiment] },
  task: { kind: "text", about: "task name", example: "task:csv", read: (rollout) => [rollout.task] },
  harness: { kind: "text", about: "harness and version", example: "harness:codex", read: (rollout) => [rollout.harness, rollout.harnessVersion] },
  policy: { kind: "text", about: "policy and version", example: "policy:scripted", read: (rollout) => [rollout.policy, rollout.policyVersion] },
  sandbox: { kind: "text", about: "local, docker or kubernetes", example: "sandbox:docker", read: (rollout) => [rollout.sandbox] },
  outcome: { kind: "text", about: "how it ended, or its phase", example: "outcome:failed", read: (rollout) => [rollout.status ?? rollout.phase] },
  cause: { kind: "text", about: "why, one level finer", example: "cause:tool-misuse", read: (rollout) => [rollout.cause] },
  action: { kind: "text", about: "train, mask or discard", example: "action:train", read: (rollout) => [rollout.action] },
  id: { kind: "text", about: "id of the rollout", example: "id:r-8c2b", read: (rollout) => [rollout.id] },
  trainable: { kind: "yes-no", about: "can be trained on", example: "trainable:no", read: (rollout) => rollout.trainable },
  reward: { kind: "number", about: "0 to 1", example: "reward>0.5", read: (rollout) => rollout.reward },
  tokens: {
    kind: "number",
    about: "prompt and completion",
    example: "tokens>20k",
    read: (rollout) => rollout.promptTokens + rollout.completionTokens,
  },
  "tokens.out": { kind: "number", about: "completion only", example: "tokens.out>2k", read: (rollout) => rollout.completionTokens },
  calls: { kind: "number", about: "model calls", example: "calls>=5", read: (rollout) => rollout.calls },
  chains: { kind: "number", about: "chains of the message graph", example: "chains>1", read: (rollout) => rollout.chains },
  attempts: { kind: "number", about: "attempts made", example: "attempts>1", read: (rollout) => rollout.attempts },
  time: { kind: "number", about: "seconds from start to end", example: "time>5m", read: (rollout) => rollout.seconds },
};
