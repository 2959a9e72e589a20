/** Every starter task, in every kind of sandbox that this machine has: the gold solution earns 1, nothing and each cheat earn exactly 0. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { SandboxKind, SandboxProvider } from "../../main/sandboxes/index.ts";
import { checkTask, createTask, type Task } from "../../main/tasks/index.ts";
import { type RehearsalKind, type RehearsalResult, rehearseTask } from "../../main/verifiers/index.ts";
import { readyProviders, type Scratch, scratchFolder, starterTaskNames, starterTasksFolder } from "./task-packages.ts";

let scratch: Scratch;
let providers: readonly SandboxProvider[] = [];

beforeAll(async () => {
  scratch = await scratchFolder();
  providers = await readyProviders(scratch.folder, ["local", "docker"]);
});
afterAll(() => scratch.dispose());

async function validTask(folder: string): Promise<Task> {
  const { task, valid, faults } = await checkTask(folder);
  expect(faults).toEqual([]);
  expect(valid).toBe(true);
  if (task === null) throw new Error("a valid package has a task");
  return task;
}

async function rehearse(kind: RehearsalKind, task: Task, provider: SandboxProvider): Promise<readonly RehearsalResult[]> {
  const outputFolder = join(scratch.folder, "output", task.name, provider.kind, kind);
  const results = await rehearseTask(kind, task, { provider, ownerId: "starter-tasks", outputFolder, environment: {} });
  for (const result of results) expect(result, `${task.name} ${provider.kind} ${result.name}: ${result.detail}`).toMatchObject({ expected: true });
  return results;
}

test("they cover all kinds of work, each without network and with at least three cheats", async () => {
  const tasks = await Promise.all(starterTaskNames.map((name) => validTask(join(starterTasksFolder, name))));
  expect(tasks).toHaveLength(starterTaskNames.length);
  expect(new Set(tasks.map((task) => task.family)).size).toBeGreaterThanOrEqual(8);
  for (const task of tasks) {
    expect(task.cheats.length).toBeGreaterThanOrEqual(3);
    expect(task.agent.network).toEqual({ mode: "no-network", allowedHosts: [], declared: true });
    expect(task.name).toMatch(/^openforge\//);
  }
  expect(tasks.flatMap((task) => task.environment.mcpServers).map((server) => server.transport)).toEqual(["stdio"]);
});

for (const kind of ["local", "docker"] as const satisfies readonly SandboxKind[]) {
  describe(`in ${kind} sandboxes`, () => {
    for (const name of starterTaskNames) {
      test(name, async (context) => {
        const provider = providers.find((candidate) => candidate.kind === kind);
        if (provider === undefined) return context.skip(`this machine has no ${kind} sandbox`);
        const task = await validTask(join(starterTasksFolder, name));
        expect(await rehearse("gold", task, provider)).toMatchObject([{ name: "gold", status: "succeeded", reward: 1 }]);
        expect(await rehearse("empty", task, provider)).toMatchObject([{ name: "empty", status: "failed", reward: 0 }]);
        const cheats = await rehearse("cheats", task, provider);
        expect(cheats.map((cheat) => [cheat.name, cheat.reward])).toEqual(task.cheats.map((cheat) => [cheat, 0]));
      });
    }

    test("a new package is complete at once", async (context) => {
      const provider = providers.find((candidate) => candidate.kind === kind);
      if (provider === undefined) return context.skip(`this machine has no ${kind} sandbox`);
      const task = await validTask(await createTask(join(scratch.folder, kind, "my first task"), { family: "text" }));
      expect(task).toMatchObject({ name: "local/my-first-task", family: "text" });
      await rehearse("gold", task, provider);
      await rehearse("empty", task, provider);
      expect(await rehearse("cheats", task, provider)).toHaveLength(3);
    });
  });
}
