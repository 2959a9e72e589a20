import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { importedModels, importModelApart, openModelFolder } from "./index.ts";

const fixtures = "tests/fixtures";
let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "importer-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("imports in another process, tells of every weight, and says what is wrong in one sentence", async () => {
  const done: number[] = [];
  const options = { dataFolder: folder, onProgress: (weights: number) => done.push(weights) };
  const imported = await importModelApart(`${fixtures}/gguf/tiny-llama.gguf`, options);
  expect(imported).toMatchObject({ policy: "embedded:tiny-llama", folder: join(importedModels(folder), "tiny-llama"), vocabulary: 1489 });
  expect(done).toEqual(done.map((_, index) => index + 1));
  (await openModelFolder(imported.folder)).close();

  const refused = {
    code: "usage",
    exitCode: 2,
    message: expect.stringContaining("is there already"),
    remedy: expect.stringContaining("another name"),
  };
  await expect(importModelApart(`${fixtures}/gguf/tiny-llama.gguf`, options)).rejects.toMatchObject(refused);
  await expect(importModelApart(join(folder, "none.gguf"), options)).rejects.toMatchObject({ code: "not-found" });
  const used = resolve(fixtures, "models/llama-tied/hf");
  expect(await importModelApart(used, options)).toMatchObject({ policy: `embedded:${used}`, folder: used });
});

test("leaves nothing behind when it is stopped", async () => {
  const controller = new AbortController();
  const stopped = importModelApart(`${fixtures}/gguf/tiny-llama.gguf`, {
    ...{ dataFolder: folder, name: "stopped", signal: controller.signal },
    onProgress: () => controller.abort(new Error("stopped")),
  });
  await expect(stopped).rejects.toThrow("stopped");
  expect(readdirSync(importedModels(folder)).filter((name) => name.includes("stopped"))).toEqual([]);
});
