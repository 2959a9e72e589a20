/** What can be done to training runs. */
import { presentClient, type ServiceClient } from "../service/connection.ts";
import { invalidate } from "../service/queries.ts";
import type { TrainingRunView } from "../service/views.ts";
import { notifyFailure } from "../state/notices.ts";
import { openOverlay } from "../state/overlays.ts";
import { openTrain } from "../state/workspace.ts";

export function showTraining(id: string): void {
  invalidate("trainings");
  openTrain({ id, step: null });
}

/** The starter experiment: a small policy gets better at shell tasks, on this computer. */
export async function runStarter(): Promise<void> {
  try {
    const { id } = await presentClient().training.startStarter({});
    showTraining(id);
  } catch (error) {
    notifyFailure(error);
  }
}

async function ask(id: string, act: (client: ServiceClient["training"]) => Promise<unknown>): Promise<void> {
  try {
    await act(presentClient().training);
    invalidate("trainings");
    invalidate(`training:${id}`);
  } catch (error) {
    notifyFailure(error);
  }
}

type Run = Pick<TrainingRunView, "id" | "name" | "step" | "steps">;

export const pauseTraining = ({ id }: Run): Promise<void> => ask(id, (training) => training.pause({ id }));
export const resumeTraining = ({ id }: Run): Promise<void> => ask(id, (training) => training.resume({ id }));
export const checkpointTraining = ({ id }: Run): Promise<void> => ask(id, (training) => training.checkpoint({ id }));

export function askToStopTraining({ id, name, step, steps }: Run): void {
  openOverlay({
    kind: "question",
    title: `Stop ${name}`,
    text: `The run ends after ${step} of ${steps} steps. Its steps, rollouts and checkpoints stay; it does not go on by itself.`,
    verb: "Stop training",
    run: () => void ask(id, (training) => training.cancel({ id })),
  });
}
