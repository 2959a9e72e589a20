/** Every starter task earns by Harbor's rules what it earns here (starter-tasks.test.ts): 1 for the gold solution, 0 for nothing and for each cheat. */
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { checkTask } from "../../main/tasks/index.ts";
import { harborImage, runByHarborsRules } from "../stand-ins/harbor-rules.ts";
import { readyProviders, scratchFolder, starterTaskNames, starterTasksFolder } from "./task-packages.ts";

const scratch = await scratchFolder();
const docker = (await readyProviders(scratch.folder, ["docker"])).length > 0;
afterAll(() => scratch.dispose());

for (const name of starterTaskNames) {
  test.skipIf(!docker)(`${name} (needs Docker)`, { timeout: 180_000 }, async () => {
    const { task } = await checkTask(join(starterTasksFolder, name));
    if (task === null) throw new Error("a starter task is a task");
    const image = await harborImage(task);
    const run = async (solution: string | null) => [solution, await runByHarborsRules(task, image, solution)] as const;
    const cheats = task.cheats.map((cheat) => `cheats/${cheat}`);
    const rewards = await Promise.all([run("solution"), run(null), ...cheats.map(run)]);
    expect(rewards).toEqual([["solution", { reward: 1 }], ...[null, ...cheats].map((none) => [none, { reward: 0 }])]);
  });
}
