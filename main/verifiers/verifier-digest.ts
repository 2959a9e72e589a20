/** Names a verifier by all that a grade depends on: its files, its settings, and how rewards are read. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { runsOf, type Task } from "../tasks/index.ts";
import { packageEntries } from "./stage-tests.ts";

/** `sha256:…` */
export async function verifierDigest(task: Task): Promise<string> {
  const hash = createHash("sha256");
  hash.update(JSON.stringify([task.rewardKey, task.maxReward, task.rewardStrategy, task.steps.map(({ name, minReward }) => [name, minReward])]));
  for (const { part } of runsOf(task)) {
    hash.update(JSON.stringify([part.verifier, part.artifacts, part.testFolders]));
    for (const folder of part.testFolders) {
      for (const { name, hostFile, mode } of await packageEntries(task.path, folder)) {
        const content =
          hostFile === null
            ? ""
            : createHash("sha256")
                .update(await readFile(hostFile))
                .digest("hex");
        hash.update(`${folder}/${name}\0${mode}\0${content}\n`);
      }
    }
  }
  return `sha256:${hash.digest("hex")}`;
}
