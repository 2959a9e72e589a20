/** Says what ended elsewhere, and keeps the figures of the status bar true while work goes on. */
import { presentClient, refreshInfo } from "../service/connection.ts";
import { runOf, watchEvents } from "../service/live.ts";
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

const endings = { ended: "success", failed: "failed", interrupted: "failed" } as const;

/** Runs whose ending was said: a run says it once, until it goes on. */
const said = new Set<string>();

async function announceTraining(id: string): Promise<void> {
  const run = (await presentClient().training.list()).find((each) => each.id === id);
  const tone = run === undefined ? undefined : endings[run.status as keyof typeof endings];
  if (run === undefined || tone === undefined) {
    said.delete(id);
    return;
  }
  if (said.has(id)) return;
  said.add(id);
  notify({
    tone,
    title: `${run.name}, seed ${run.seed}: training ${run.status}`,
    text: run.problem === null ? `${run.step} of ${plural(run.steps, "step")} were made.` : `${run.problem.message} ${run.problem.remedy}`,
    action: { verb: "Show", run: () => openTrain({ id, step: null }) },
  });
}

function trainingsElsewhere(events: readonly EventView[]): ReadonlySet<string> {
  if (useWorkspace.getState().active === "train") return new Set();
  return new Set(events.flatMap((event) => (event.type === "training.status" ? (runOf(event) ?? []) : [])));
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
    for (const id of trainingsElsewhere(events)) announceTraining(id).catch(() => undefined);
  });
}
