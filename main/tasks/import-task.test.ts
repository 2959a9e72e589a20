import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTask } from "./create-task.ts";
import { importTask } from "./import-task.ts";

let folder = "";
let made = "";
let into = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "openforge-import-test-"));
  into = join(folder, "tasks");
  made = await createTask(join(folder, "source", "count-words"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test("a folder is copied under the package's name, and never over what is there", async () => {
  const verdict = await importTask({ source: made, into });
  expect(verdict).toMatchObject({ valid: true, path: join(into, "count-words") });
  await expect(importTask({ source: made, into })).rejects.toThrow("is there already");
  expect((await readdir(into)).toSorted()).toEqual(["count-words"]);
});

test("an archive, and a git repository, with the package in a folder of theirs", async () => {
  const archive = join(folder, "task.tar.gz");
  execFileSync("tar", ["-czf", archive, "-C", join(folder, "source"), "."]);
  const first = await importTask({ source: archive, into, to: join(folder, "from-archive") });
  const repository = join(folder, "source");
  execFileSync("git", ["init", "-q", repository]);
  execFileSync("git", ["-C", repository, "add", "."]);
  execFileSync("git", ["-C", repository, "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-q", "-m", "Add"]);
  const second = await importTask({ source: `file://${repository}`, into, to: join(folder, "from-git") });
  expect(first.valid && second.valid).toBe(true);
  expect(first.digest).toBe(second.digest);
});

test("a faulty package is not copied; its faults name file and line", async () => {
  const source = join(folder, "faulty");
  await mkdir(source);
  await writeFile(join(source, "task.toml"), '[environment]\nnetwork_mode = "sometimes"\n');
  const verdict = await importTask({ source, into });
  expect(verdict).toMatchObject({ valid: false, path: source });
  expect(verdict.faults[0]).toMatchObject({ file: "task.toml", line: 2, severity: "error" });
  expect(await readdir(into)).not.toContain("faulty");
});

test("what holds no package, several, or is not there, is refused in a sentence", async () => {
  await mkdir(join(folder, "empty"));
  await expect(importTask({ source: join(folder, "empty"), into })).rejects.toThrow("holds no task.toml");
  await createTask(join(folder, "two", "a"));
  await createTask(join(folder, "two", "b"));
  await expect(importTask({ source: join(folder, "two"), into })).rejects.toThrow("holds 2 task packages: a, b.");
  await expect(importTask({ source: join(folder, "nowhere"), into })).rejects.toThrow("There is no folder, archive or git address");
  await writeFile(join(folder, "torn.tar.gz"), "no archive");
  await expect(importTask({ source: join(folder, "torn.tar.gz"), into })).rejects.toThrow("cannot be imported");
});
