/** `training:RUN@STEP`, `@last`, `@best`: what a training run has published. */
import { WorkbenchError } from "../errors.ts";
import { type PublishedVersion, readPublishedVersion } from "../models/index.ts";

export const trainingPrefix = "training:";

export function isTraining(name: string): boolean {
  return name.startsWith(trainingPrefix);
}

/** Rejects with WorkbenchError when there is no such run or step. */
export async function publishedVersion(name: string, folder: string | undefined): Promise<PublishedVersion> {
  if (folder === undefined)
    throw new WorkbenchError("unavailable", "Policies of training runs are not offered here.", "Start the workbench's own service.");
  return readPublishedVersion(folder, name.slice(trainingPrefix.length));
}
