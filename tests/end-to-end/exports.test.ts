/** Someone else's recordings in, our files out, by the command line as it ships. */
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { experimentViewSchema } from "../../main/api/experiment-views.ts";
import { exportReportSchema, importReportSchema } from "../../main/api/export-views.ts";
import { run, temporaryData } from "./openforge.ts";

const data = temporaryData();
afterAll(() => data.remove());

const job = resolve("tests/fixtures/harbor/jobs/2026-03-01__11-00-00");
const json = async <T>(schema: z.ZodType<T>, ...words: string[]): Promise<T> => {
  const ended = await run([...words, "--json"], data.path);
  expect(ended.code, ended.stderr).toBe(0);
  return schema.parse(JSON.parse(ended.stdout));
};

describe("a Harbor job", () => {
  test("is imported, listed, exported in every form, and imported again from one", async () => {
    const { experiment, rollouts } = await json(importReportSchema, "runs", "import", job);
    expect(rollouts).toBe(4);
    expect(await json(z.array(experimentViewSchema), "runs", "list")).toMatchObject([{ id: experiment, status: "recording", total: 4 }]);
    for (const format of ["atif", "harbor", "trl-sft", "verl-sft", "verl-rl", "slime", "html", "har", "csv"]) {
      const path = join(data.path, "out", format);
      const report = await json(exportReportSchema, "export", experiment, "--format", format, "--out", path);
      expect(report).toMatchObject({ path, format });
      expect(report.count).toBeGreaterThan(0);
      expect(existsSync(path)).toBe(true);
    }
    expect(await json(importReportSchema, "runs", "import", join(data.path, "out", "harbor"))).toMatchObject({
      kind: "Harbor job",
      rollouts: 4,
      calls: 4,
    });
  });

  test.each<[string, readonly string[], string]>([
    ["no format", ["export", "e-1", "--out", "x"], "export wants a --format."],
    ["no such format", ["export", "e-1", "--format", "pdf", "--out", "x"], "There is no export format `pdf`."],
    ["no place", ["export", "e-1", "--format", "csv"], "export wants to know where to write."],
    ["no such id", ["export", "e-1", "--format", "csv", "--out", "/tmp/none.csv"], "There is no experiment, rollout or training run e-1."],
    ["nothing to import", ["runs", "import", "/tmp/none.eval"], "There is nothing at /tmp/none.eval."],
  ])("wrong use gets one sentence and 2: %s", async (_name, words, sentence) => {
    const ended = await run([...words], data.path);
    expect([ended.code, ended.stderr]).toEqual([2, expect.stringContaining(sentence)]);
    expect(ended.stderr).not.toMatch(/\n\s+at /);
  });

  test("what is there is kept unless force is given", async () => {
    const path = join(data.path, "out", "csv");
    const [{ id } = { id: "" }] = await json(z.array(experimentViewSchema), "runs", "list");
    const before = readFileSync(path, "utf8");
    const refused = await run(["export", id, "--format", "csv", "--out", path], data.path);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(`${path} is there already.`)]);
    expect(readFileSync(path, "utf8")).toBe(before);
    expect(await json(exportReportSchema, "export", id, "--format", "csv", "--out", path, "--force")).toMatchObject({ unit: "rollouts" });
  });
});
