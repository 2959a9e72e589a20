/** The two things to try first, and the look at this computer. */
import { presentClient, refreshInfo } from "../service/connection.ts";
import { invalidate } from "../service/queries.ts";
import { notifyFailure } from "../state/notices.ts";
import { rolloutPlace } from "../state/places.ts";
import { useRunsSelection } from "../state/runs-selection.ts";
import { openPlace, openScreen } from "../state/workspace.ts";

/** Runs every starter task once with the scripted policy and shows it in Runs. */
export async function runStarterTasks(): Promise<void> {
  try {
    const { id } = await presentClient().experiments.startStarter();
    showExperiment(id);
  } catch (error) {
    notifyFailure(error);
  }
}

/** Brings the bundled recording in and opens its rollout. */
export async function openBundledRecording(): Promise<void> {
  try {
    const { rollout } = await presentClient().experiments.openRecording();
    invalidate("experiments");
    await refreshInfo();
    openPlace(rolloutPlace(rollout), { title: null });
  } catch (error) {
    notifyFailure(error);
  }
}

export function showExperiment(id: string): void {
  invalidate("experiments");
  void refreshInfo();
  useRunsSelection.setState((state) => ({ expanded: new Set([...state.expanded, `e/${id}`]), active: `e/${id}` }));
  openScreen("runs");
}

export function requestCheckAgain(): void {
  invalidate("doctor");
  invalidate("harnesses");
  invalidate("policies");
}
