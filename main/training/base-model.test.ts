import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { publishedFolder } from "../models/index.ts";
import { baseModel } from "./base-model.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "openforge-base-"));
  for (const kind of ["weights", "adapter"]) {
    const run = join(folder, "training", kind);
    mkdirSync(publishedFolder(run, 3), { recursive: true });
    writeFileSync(join(publishedFolder(run, 3), `${kind === "weights" ? "model" : "adapter_model"}.safetensors`), "x");
    writeFileSync(join(run, "run.json"), JSON.stringify({ baseModel: "/models/base", kind, best: 3 }));
  }
  mkdirSync(join(folder, "policies", "tiny"), { recursive: true });
  writeFileSync(join(folder, "policies", "tiny", "config.json"), "{}");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const of = (name: string): Promise<string> =>
  baseModel(name, { dataFolder: folder, modelsFolder: join(folder, "models"), policiesFolder: join(folder, "policies") });

test("a run begins from a folder, a name, or the weights of another run", async () => {
  expect(await of(join(folder, "policies", "tiny"))).toBe(join(folder, "policies", "tiny"));
  expect(await of("tiny")).toBe(join(folder, "policies", "tiny"));
  expect(await of("training:weights@3")).toBe(publishedFolder(join(folder, "training", "weights"), 3));
});

test("what cannot be begun from is told, with what to do", async () => {
  await expect(of("none")).rejects.toMatchObject({ message: 'There is no model "none".' });
  await expect(of("training:weights@9")).rejects.toMatchObject({ message: expect.stringContaining('no published step "9"') });
  await expect(of("training:adapter@3")).rejects.toMatchObject({
    message: expect.stringContaining("a run begins from a whole model"),
    remedy: expect.stringContaining("begin from /models/base anew"),
  });
});
