/** What can be done to what runs. Each asks first where something is lost. */
import { presentClient, refreshInfo } from "../service/connection.ts";
import { invalidate } from "../service/queries.ts";
import type { ExperimentView, RolloutView } from "../service/views.ts";
import { notify, notifyFailure } from "../state/notices.ts";
import { openOverlay } from "../state/overlays.ts";
import { plural } from "../words/numbers.ts";

export async function cancelExperiment(experiment: Pick<ExperimentView, "id" | "name">): Promise<void> {
  try {
    const { cancelled } = await presentClient().experiments.cancel({ id: experiment.id });
    notify({
      tone: "neutral",
      title: `${experiment.name} is cancelled`,
      text: `${plural(cancelled, "rollout")} ended by it. What was recorded stays.`,
    });
  } catch (error) {
    notifyFailure(error);
  }
}

export async function cancelRollout(rollout: Pick<RolloutView, "id">): Promise<void> {
  try {
    await presentClient().rollouts.cancel({ id: rollout.id });
  } catch (error) {
    notifyFailure(error);
  }
}

async function remove(id: string): Promise<void> {
  try {
    await presentClient().experiments.remove({ id });
    invalidate("experiments");
    await refreshInfo();
  } catch (error) {
    notifyFailure(error);
  }
}

export function askToRemove(experiment: Pick<ExperimentView, "id" | "name" | "total">): void {
  openOverlay({
    kind: "question",
    title: `Remove ${experiment.name}`,
    text: `${plural(experiment.total, "rollout")} with their calls, tokens and artifacts leave the store. This cannot be undone.`,
    verb: "Remove experiment",
    run: () => void remove(experiment.id),
  });
}
