/** Opens the export dialog on what a person looks at. */
import type { ExportSubject } from "../screens/export/formats.ts";
import type { ExperimentView, RolloutView, TrainingRunView } from "../service/views.ts";
import { openOverlay } from "../state/overlays.ts";
import { shortId, taskWords } from "../words/names.ts";
import { plural } from "../words/numbers.ts";

const ofExperiment = ({ id, name, total }: Pick<ExperimentView, "id" | "name" | "total">): ExportSubject => ({
  id,
  label: name,
  about: plural(total, "rollout"),
  kind: "experiment",
});

export function exportExperiment(experiment: Pick<ExperimentView, "id" | "name" | "total">): void {
  openOverlay({ kind: "export", subjects: [ofExperiment(experiment)] });
}

/** A rollout, or the experiment that it belongs to. */
export function exportRollout({ id, task, experiment }: Pick<RolloutView, "id" | "task" | "experiment">): void {
  const rollout: ExportSubject = { id, label: `${shortId(id)} · ${taskWords(task)}`, about: "this rollout", kind: "rollout" };
  openOverlay({ kind: "export", subjects: [rollout, { id: experiment, label: experiment, about: "its experiment", kind: "experiment" }] });
}

export function exportTraining({ id, name, steps }: Pick<TrainingRunView, "id" | "name" | "steps">): void {
  openOverlay({ kind: "export", subjects: [{ id, label: name, about: plural(steps, "step"), kind: "run" }] });
}
