import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { checkTask } from "./check-task.ts";
import { createTask } from "./create-task.ts";

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "openforge-new-"));
});
afterAll(() => rm(root, { recursive: true, force: true }));

test("a new package is valid, without a warning, and complete", async () => {
  const path = await createTask(join(root, "deep", "My task (1)"), { family: "text" });
  const { task, faults } = await checkTask(path);
  expect(faults).toEqual([]);
  expect(task).toMatchObject({ name: "local/My-task-1-", family: "text", hasSolution: true, agent: { network: { mode: "no-network" } } });
  expect(task?.cheats).toHaveLength(3);
  expect((await stat(join(path, "tests/test.sh"))).mode & 0o111).toBe(0o111);
  expect((await checkTask(await createTask(join(root, "named"), { name: "org/named" }))).task?.name).toBe("org/named");
});

test("what is there is never touched", async () => {
  const taken = join(root, "taken");
  await mkdir(taken);
  await createTask(taken);
  await writeFile(join(taken, "task.toml"), "mine");
  await expect(createTask(taken)).rejects.toMatchObject({ message: `${taken} is not empty.`, exitCode: 2 });
  expect(await readFile(join(taken, "task.toml"), "utf8")).toBe("mine");
  await expect(createTask(join(taken, "task.toml"))).rejects.toMatchObject({ exitCode: 2 });
  await expect(createTask(join(root, "bad"), { name: "no slash" })).rejects.toMatchObject({ message: '"no slash" is no task name.', exitCode: 2 });
});
