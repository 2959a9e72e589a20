/** Says what ended elsewhere, and keeps the figures of the status bar true while work goes on. */
import { presentClient, refreshInfo } from "../service/connection.ts";
import { trainingOf, watchEvents } from "../service/live.ts";
import type { EventView, ExperimentView } from "../service/views.ts";
import { notify } from "../state/notices.ts";
import { openTrain, useWorkspace } from "../state/workspace.ts";
import { plural } from "../words/numbers.ts";
import { showExperiment } from "./first-run.ts";

const infoAtMostEvery = 5000;

/** How an experiment ended, in half a sentence. */
function endingWords({ total, outcomes }: Pick<ExperimentView, "total" | "outcomes">): string {
  return `${outcomes.succeeded ?? 0} of ${plural(total, "rollout")} succeeded`;
}

async function announce(id: string): Promise<void> {
  const experiment = await presentClient().experiments.get({ id });
  // An opened recording brings its events along; it ended long ago.
  if (experiment.status === "recording") return;
  // Of a training run its own ending is said.
  if ((await presentClient().training.list()).some((run) => run.experiment === id)) return;
  notify({
    tone: "success",
    title: `${experiment.name} ended`,
    text: endingWords(experiment),
    action: { verb: "Show", run: () => showExperiment(id) },
  });
}

function endedElsewhere(events: readonly EventView[]): readonly string[] {
  if (useWorkspace.getState().active === "runs") return [];
  return events.flatMap((event) => (event.type === "experiment.ended" && event.experiment !== null ? [event.experiment] : []));
}

const endings: Readonly<Record<string, "success" | "failed">> = { ended: "success", failed: "failed", interrupted: "failed" };

async function announceTraining(id: string, status: string): Promise<void> {
  const run = (await presentClient().training.list()).find((each) => each.id === id);
  if (run === undefined) return;
  notify({
    tone: endings[status] ?? "neutral",
    title: `${run.name}, seed ${run.seed}: training ${status}`,
    text: run.problem === null ? `${run.step} of ${plural(run.steps, "step")} were made.` : `${run.problem.message} ${run.problem.remedy}`,
    action: { verb: "Show", run: () => openTrain({ id, step: null }) },
  });
}

/** How runs stood when they were last heard of: an ending is said once. */
const stood = new Map<string, string>();

function trainingsEndedElsewhere(events: readonly EventView[]): readonly { readonly run: string; readonly status: string }[] {
  return events.flatMap((event) => {
    const training = trainingOf(event);
    if (training === null) return [];
    const before = stood.get(training.run);
    stood.set(training.run, training.status);
    const isNews = before !== training.status && endings[training.status] !== undefined;
    return isNews && useWorkspace.getState().active !== "train" ? [training] : [];
  });
}

export function startAnnouncing(): void {
  let refreshedAt = 0;
  watchEvents((events) => {
    if (Date.now() - refreshedAt > infoAtMostEvery) {
      refreshedAt = Date.now();
      refreshInfo().catch(() => undefined);
    }
    // An experiment that was removed meanwhile needs no message.
    for (const id of endedElsewhere(events)) announce(id).catch(() => undefined);
    for (const { run, status } of trainingsEndedElsewhere(events)) announceTraining(run, status).catch(() => undefined);
  });
}
