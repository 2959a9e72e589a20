import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { publishedFolder, publishedSteps, readPublishedVersion } from "./index.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "openforge-published-"));
  await mkdir(join(folder, "r1"), { recursive: true });
  await writeFile(join(folder, "r1", "run.json"), JSON.stringify({ baseModel: "/m", kind: "adapter", best: 2, algorithm: "grpo" }));
  for (const step of [2, 10, 3]) {
    await mkdir(publishedFolder(join(folder, "r1"), step), { recursive: true });
    await writeFile(join(publishedFolder(join(folder, "r1"), step), "adapter_model.safetensors"), String(step));
  }
  await mkdir(join(folder, "r1", "published", ".11.123.partial"));
  await mkdir(publishedFolder(join(folder, "r1"), 12));
  await mkdir(join(folder, "new"));
  await writeFile(join(folder, "new", "run.json"), JSON.stringify({ baseModel: "/m", kind: "weights" }));
  await mkdir(join(folder, "odd"));
  await writeFile(join(folder, "odd", "run.json"), JSON.stringify({ baseModel: "/m", kind: "both" }));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test("a step is named by number, as the last or as the best", async () => {
  expect(await publishedSteps(join(folder, "r1"))).toEqual([2, 3, 10, 12]);
  const read = async (name: string) => (await readPublishedVersion(folder, name)).name;
  expect(await read("r1@10")).toBe("r1@10");
  expect(await read("r1@best")).toBe("r1@2");
  await rm(publishedFolder(join(folder, "r1"), 12), { recursive: true });
  expect([await read("r1"), await read("r1@last")]).toEqual(["r1@10", "r1@10"]);
  expect(await readPublishedVersion(folder, "r1@3")).toMatchObject({
    folder: join(folder, "r1", "published", "3"),
    run: { baseModel: "/m", kind: "adapter", sampler: "embedded", deterministic: false },
  });
});

test("a step that was published again has another stamp", async () => {
  const { stamp } = await readPublishedVersion(folder, "r1@3");
  expect((await readPublishedVersion(folder, "r1@3")).stamp).toBe(stamp);
  await rm(publishedFolder(join(folder, "r1"), 3), { recursive: true });
  await mkdir(publishedFolder(join(folder, "r1"), 3));
  await writeFile(join(publishedFolder(join(folder, "r1"), 3), "adapter_model.safetensors"), "3 again");
  expect((await readPublishedVersion(folder, "r1@3")).stamp).not.toBe(stamp);
});

test("what is not there is said, with what is", async () => {
  await expect(readPublishedVersion(folder, "r1@4")).rejects.toMatchObject({
    message: 'The training run r1 has no published step "4".',
    remedy: expect.stringContaining("Published: 2, 3, 10"),
  });
  await expect(readPublishedVersion(folder, "new")).rejects.toMatchObject({ remedy: "It has published nothing yet." });
  await expect(readPublishedVersion(folder, "new@best")).rejects.toThrow('no published step "best"');
  await expect(readPublishedVersion(folder, "other@1")).rejects.toThrow("There is no training run other.");
  await expect(readPublishedVersion(folder, "odd")).rejects.toThrow(/run\.json cannot be read: kind /);
  for (const name of ["", "..", "../r1@2", "r1@", "r1@-1", "r1@2@3", "r1@first"]) {
    await expect(readPublishedVersion(folder, name)).rejects.toThrow("names no step of a training run");
  }
});
