/**
 * The same rewards as Harbor's: every starter task earns by Harbor's rules what it earns here (starter-tasks.test.ts), 1 for the gold
 * solution and 0 for nothing and each cheat (but for two that forge the reward file); and packages that Harbor itself ran earn here what it gave them.
 */
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";
import { checkTask } from "../../main/tasks/index.ts";
import { rehearseTask } from "../../main/verifiers/index.ts";
import { harborImage, runByHarborsRules } from "../stand-ins/harbor-rules.ts";
import { readyProviders, scratchFolder, starterTaskNames, starterTasksFolder, writePackage } from "./task-packages.ts";

const scratch = await scratchFolder();
const docker = (await readyProviders(scratch.folder, ["docker"])).length > 0;
afterAll(() => scratch.dispose());

/** They leave a process that writes the reward after the verifier: Harbor 0.26 lets it live and believes it, the workbench does neither. */
const forgeries: readonly string[] = ["sort-downloads/cheats/claim-the-reward", "investigate-log/cheats/claim-the-parts"];

for (const name of starterTaskNames) {
  test.skipIf(!docker)(`${name} (needs Docker)`, { timeout: 180_000 }, async () => {
    const { task } = await checkTask(join(starterTasksFolder, name));
    if (task === null) throw new Error("a starter task is a task");
    const image = await harborImage(task);
    const run = async (solution: string | null) => [solution, (await runByHarborsRules(task, image, solution))?.reward ?? null] as const;
    const cheats = task.cheats.map((cheat) => `cheats/${cheat}`).filter((cheat) => !forgeries.includes(`${name}/${cheat}`));
    const rewards = await Promise.all([run("solution"), run(null), ...cheats.map(run)]);
    expect(rewards).toEqual([["solution", 1], ...[null, ...cheats].map((none) => [none, 0])]);
  });
}

/** What Harbor itself gave to the shipped solutions of these packages (tests/fixtures/harbor/README.md). */
const job = new URL("../fixtures/harbor/jobs/2026-03-01__10-00-00/", import.meta.url).pathname;
const packages = new URL("../fixtures/harbor/tasks/", import.meta.url).pathname;
const trials = readdirSync(job).filter((name) => name.startsWith("ok-"));

test.skipIf(!docker)("packages that Harbor ran earn here what Harbor gave them, step by step", { timeout: 280_000 }, async () => {
  const [provider] = await readyProviders(scratch.folder, ["docker"]);
  if (provider === undefined) return;
  await promisify(execFile)("docker", ["tag", "openforge/base:1", "example/base:1"]);
  for (const trial of trials) {
    const given = JSON.parse(readFileSync(join(job, trial, "result.json"), "utf8"));
    const { task } = await checkTask(join(packages, trial.replace(/__.*$/, "")));
    if (task === null) throw new Error("a package that Harbor ran is a task");
    const outputFolder = join(scratch.folder, trial);
    const [ours] = await rehearseTask("gold", task, { provider, ownerId: "harbor-rules", outputFolder, environment: {} });
    expect([trial, ours?.rewards]).toEqual([trial, given.verifier_result?.rewards ?? null]);
  }
});

test.skipIf(!docker)("a task whose image starts a service and names its folder earns the same by both", { timeout: 120_000 }, async () => {
  const task = await writePackage(join(scratch.folder, "served"), {
    "task.toml": '[environment]\nnetwork_mode = "no-network"\n',
    "instruction.md": "Ask the service, and write its word into word.txt.",
    "environment/Dockerfile": 'FROM openforge/base:1\nCOPY entry.sh /entry.sh\nWORKDIR /srv/work\nENTRYPOINT ["/entry.sh"]\n',
    // The word is in the memory of the service only, and changes when it is started again.
    "environment/entry.sh":
      '#!/bin/sh\nsh -c \'word=$$; mkfifo /run/ask /run/answer; while read line < /run/ask; do echo "$word $line" > /run/answer; done\' &\nexec "$@"\n',
    "solution/solve.sh": "#!/bin/bash\necho please > /run/ask; cat /run/answer > word.txt\n",
    "tests/test.sh":
      '#!/bin/bash\necho please > /run/ask\n[ "$(cat /run/answer)" = "$(cat /srv/work/word.txt)" ] && echo 1 > /logs/verifier/reward.txt || echo 0 > /logs/verifier/reward.txt\n',
  });
  const [provider] = await readyProviders(scratch.folder, ["docker"]);
  if (provider === undefined) return;
  const image = await harborImage(task);
  const theirs = await Promise.all(["solution", null].map((solution) => runByHarborsRules(task, image, solution)));
  const options = { provider, ownerId: "harbor-rules", outputFolder: scratch.folder, environment: {} };
  const ours = [await rehearseTask("gold", task, options), await rehearseTask("empty", task, options)].flat();
  expect([theirs.map((rewards) => rewards?.reward), ours.map(({ reward }) => reward)]).toEqual([
    [1, 0],
    [1, 0],
  ]);
});
