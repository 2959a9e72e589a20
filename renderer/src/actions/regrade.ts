/** Opens the review of what a changed verifier says of kept work. */
import type { ExperimentView, RolloutView } from "../service/views.ts";
import { openOverlay } from "../state/overlays.ts";
import { rolloutTitle } from "../words/names.ts";

/** Something of it has ended, and a verifier graded it. */
export const canRegrade = ({ kind, ended }: Pick<ExperimentView, "kind" | "ended">): boolean => kind !== "attach" && ended > 0;

export const regradeExperiment = ({ id, name }: Pick<ExperimentView, "id" | "name">): void => openOverlay({ kind: "regrade", id, label: name });

export const regradeRollout = (rollout: Pick<RolloutView, "id" | "task">): void =>
  openOverlay({ kind: "regrade", id: rollout.id, label: rolloutTitle(rollout) });
