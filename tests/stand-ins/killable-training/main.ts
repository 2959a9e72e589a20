/**
 * A service that the training tests kill: boots the workbench on the given data folder, starts the run if there is none yet, goes on
 * with it otherwise, and ends by itself when the run has ended.
 *   tsx main.ts DATA_FOLDER RUN.yaml
 */
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { bootWorkbench } from "../../../main/boot.ts";

const [dataFolder = "", file = ""] = process.argv.slice(2);
const workbench = await bootWorkbench({ dataFolder });
const { training } = workbench;
console.log("ready");
const id = training.list()[0]?.id ?? (await training.start({ yaml: readFileSync(file, "utf8"), folder: dirname(file) }));
try {
  await training.follow(id, (line) => console.log(line), new AbortController().signal);
  console.log("done");
} finally {
  await workbench.close();
}
