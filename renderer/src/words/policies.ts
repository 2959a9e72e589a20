/** Policies as lists offer them: those that are saved here, and what training runs have published. Pure. */
import type { PolicyView, TrainingRunView } from "../service/views.ts";

interface OfferedPolicy {
  readonly id: string;
  readonly title: string;
  readonly about: string;
}

interface Offered {
  readonly group: string;
  readonly options: readonly OfferedPolicy[];
}

/** A run offers what it has published: nothing before its first step. Its best is what its evaluations say. */
export function trainedPolicies(runs: readonly Pick<TrainingRunView, "id" | "name" | "seed" | "step" | "evaluations">[]): readonly OfferedPolicy[] {
  return runs.flatMap(({ id, name, seed, step }) =>
    step === 0
      ? []
      : [
          { id: `training:${id}@best`, title: `${name}, seed ${seed}`, about: "best step" },
          { id: `training:${id}@last`, title: `${name}, seed ${seed}`, about: `last step, ${step}` },
        ],
  );
}

export function offeredPolicies(policies: readonly PolicyView[], runs: readonly TrainingRunView[]): readonly Offered[] {
  const known = policies.map(({ id, capture }) => ({ id, title: id, about: capture ?? "not probed" }));
  const trained = trainedPolicies(runs);
  return [{ group: "Policies", options: known }, ...(trained.length === 0 ? [] : [{ group: "Training runs", options: trained }])];
}

/** What the workbench samples itself always comes with ids and log-probs; of a server only a probe tells. */
const ownPolicy = /^(training|embedded|scripted):/;

/** What some policies give with an answer, in two words. */
export function captureWords(names: readonly string[], policies: readonly Pick<PolicyView, "id" | "capture">[]): string {
  const captures = new Set(
    names.map((name) => policies.find(({ id }) => id === name)?.capture ?? (ownPolicy.test(name) ? "ids+logprobs" : "capture not probed")),
  );
  const [only = "capture not probed"] = captures;
  return captures.size > 1 ? "captures differ" : only;
}
