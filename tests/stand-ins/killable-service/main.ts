/**
 * A service that the restart test kills: boots the workbench on the given data folder, starts the experiment if there is none yet,
 * goes on with it otherwise, and ends by itself when the experiment has ended.
 *   tsx main.ts DATA_FOLDER SPEC.json
 */
import { readFileSync } from "node:fs";
import { experimentSpecSchema } from "../../../main/api/experiment-views.ts";
import { bootWorkbench } from "../../../main/boot.ts";

const [dataFolder = "", specFile = ""] = process.argv.slice(2);
const workbench = await bootWorkbench({ dataFolder });
const { store, rollouts } = workbench;
console.log("ready");
if (store.experiments().length === 0) await rollouts.startExperiment(experimentSpecSchema.parse(JSON.parse(readFileSync(specFile, "utf8"))));
await rollouts.idle();
await workbench.close();
console.log("done");
