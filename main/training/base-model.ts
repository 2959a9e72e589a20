/** The model folder that a run begins from. */
import { existsSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { WorkbenchError } from "../errors.ts";
import { readPublishedVersion, trainingFolder } from "../models/index.ts";

export interface BasePlaces {
  readonly dataFolder: string;
  /** Imported models by name. */
  readonly modelsFolder: string;
  /** Policies that ship by name, such as `starter`. */
  readonly policiesFolder: string;
}

/** `base`: a folder, the name of a model that ships or was imported, or `training:RUN@STEP`. Rejects with WorkbenchError. */
export async function baseModel(base: string, { dataFolder, modelsFolder, policiesFolder }: BasePlaces): Promise<string> {
  if (base.startsWith("training:")) return ofRun(base.slice("training:".length), dataFolder);
  const name = base.replace(/^embedded:/, "");
  const folders = isAbsolute(name) ? [name] : [join(modelsFolder, name), join(policiesFolder, name)];
  const found = folders.find((folder) => existsSync(join(folder, "config.json")));
  if (found !== undefined) return found;
  throw new WorkbenchError(
    "usage",
    `There is no model "${base}".`,
    "Name a folder in the Hugging Face layout (./my-model), an imported model (openforge policy import PATH), `starter`, or training:RUN@STEP.",
  );
}

async function ofRun(name: string, dataFolder: string): Promise<string> {
  const { run, folder } = await readPublishedVersion(trainingFolder(dataFolder), name);
  if (run.kind === "weights") return folder;
  throw new WorkbenchError(
    "usage",
    `training:${name} is an adapter, and a run begins from a whole model: its \`base\` is what a new adapter, or all weights, are trained on.`,
    `Add the adapter to its base model with a tool of PEFT and name that folder, begin from ${run.baseModel} anew, or begin from a run with \`train: weights\`.`,
  );
}
