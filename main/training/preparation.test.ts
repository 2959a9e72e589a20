import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bootWorkbench, type Workbench } from "../boot.ts";

const file = [
  "name: small",
  "base: starter",
  "harnesses: [react]",
  "tasks:",
  "  train: { starter: { count: 2 } }",
  "stages:",
  "  - { kind: rl, steps: 1, tasks: 1, rate: 1e-5 }",
  "",
].join("\n");
const taughtBy = (teacher: string): string => file.replace(/ {2}- \{.*/, `  - kind: sft\n    rate: 1e-4\n    teacher:\n      ${teacher}`);

let folder: string;
let workbench: Workbench;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "preparation-"));
  writeFileSync(join(folder, "rules.yaml"), "version: 1\nname: r\nrules: [{ answer: { text: hi } }]\n");
  workbench = await bootWorkbench({ dataFolder: join(folder, "data") });
  await workbench.policies.add({ id: "plain", url: "http://127.0.0.1:9/v1", kind: "openai-compatible" });
});
afterAll(async () => {
  await workbench.close();
  rmSync(folder, { recursive: true, force: true });
});

test.each([
  ["a harness", file.replace("react", "raect"), 3, "There is no harness called raect."],
  ["a task folder", file.replace("{ starter: { count: 2 } }", "./nowhere"), 4, `The task folder ${resolve("/")}`],
  ["a model", file.replace("base: starter", "base: startr"), 2, 'There is no model "startr".'],
  ["a sampler", `${file}sampler:\n  vllm: nope\n`, 9, 'There is no saved policy "nope".'],
  ["a sampler that is another server", `${file}sampler:\n  vllm: plain\n`, 9, 'The policy "plain" is openai-compatible, not vllm.'],
  ["a teacher", taughtBy("policy: nope"), 10, 'There is no policy "nope".'],
  ["a teacher's rules", taughtBy("policy: 'scripted:nope.yaml'"), 10, "The rule file"],
  ["an experiment", taughtBy("experiments: [e-nope]"), 10, "There is no experiment e-nope."],
])("%s that is not there is told with its line, before anything starts", async (_name, yaml, line, message) => {
  const checked = await workbench.training.check({ yaml, folder });
  expect(checked).toMatchObject({ valid: false, faults: [{ line, message: expect.stringContaining(message) }] });
  await expect(workbench.training.start({ yaml, folder })).rejects.toThrow(message);
  expect(workbench.training.list()).toEqual([]);
});

test("what is there is found from where the file lies", async () => {
  expect(await workbench.training.check({ yaml: taughtBy("policy: 'scripted:rules.yaml'"), folder })).toMatchObject({ valid: true, faults: [] });
});

test("an unfinished run whose file is refused by now fails, and the service starts", async () => {
  const data = join(folder, "old");
  const first = await bootWorkbench({ dataFolder: data });
  const id = await first.training.start({ yaml: file, folder });
  await first.training.pause(id);
  await first.close();
  const path = join(data, "training", id, "run.json");
  const record: object = JSON.parse(readFileSync(path, "utf8"));
  writeFileSync(path, JSON.stringify({ ...record, status: "running", file: file.replace("rate: 1e-5", "rate: 1e-5, group: 1") }));
  const second = await bootWorkbench({ dataFolder: data });
  expect(second.training.get(id)).toMatchObject({ status: "failed", problem: { message: expect.stringContaining("`group` must be at least 2") } });
  await second.close();
});
