/** Every starter task earns by Harbor's rules what it earns here: all for the gold solution, 0 for nothing, 0 for every cheat. */
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { checkTask } from "../../main/tasks/index.ts";
import { rehearseTask } from "../../main/verifiers/index.ts";
import { harborImage, runByHarborsRules } from "../stand-ins/harbor-rules.ts";
import { readyProviders, scratchFolder, starterTaskNames, starterTasksFolder } from "./task-packages.ts";

const scratch = await scratchFolder();
const [provider] = await readyProviders(scratch.folder, ["docker"]);
afterAll(() => scratch.dispose());

for (const name of starterTaskNames) {
  test.skipIf(provider === undefined)(`${name} (needs Docker)`, { timeout: 120_000 }, async () => {
    if (provider === undefined) return;
    const { task } = await checkTask(join(starterTasksFolder, name));
    if (task === null) throw new Error("a starter task is a task");
    const ours = new Map<string, unknown>();
    for (const kind of ["gold", "empty", "cheats"] as const) {
      const outputFolder = join(scratch.folder, name, kind);
      const results = await rehearseTask(kind, task, { provider, ownerId: "harbor-rules", outputFolder, environment: {} });
      for (const result of results) ours.set(result.name, result.rewards);
    }
    const image = await harborImage(task);
    const theirs = new Map<string, unknown>();
    theirs.set("gold", await runByHarborsRules(task, image, "solution"));
    theirs.set("empty", await runByHarborsRules(task, image, null));
    for (const cheat of task.cheats) theirs.set(cheat, await runByHarborsRules(task, image, `cheats/${cheat}`));
    expect(Object.fromEntries(theirs)).toEqual(Object.fromEntries(ours));
  });
}
