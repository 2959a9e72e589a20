import { cp, mkdir, mkdtemp, readdir, realpath, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { weightShapes } from "../../engine/models/index.ts";
import { importGguf, openModelFolder, writeModelFolder } from "./index.ts";

const fixtures = "tests/fixtures";
let folder = "";
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "openforge-models-")));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe("model folders", () => {
  test("several files with an index are mapped from the folder", async () => {
    const model = await openModelFolder(`${fixtures}/models/qwen2-bias/hf`);
    const place = model.weights.place("lm_head.weight");
    expect(model.weightsFolder).toBe(await realpath(`${fixtures}/models/qwen2-bias/hf`));
    expect(place.source).toMatchObject({ external: { file: expect.stringMatching(/^model-0000\d-of-00005.safetensors$/) } });
    expect(model.endIds).toEqual([2]);
    model.close();
  });

  test("links of a Hugging Face cache lead to the blobs", async () => {
    const [snapshot, blobs] = [join(folder, "snapshots", "abc"), join(folder, "blobs")];
    await mkdir(snapshot, { recursive: true });
    await cp(`${fixtures}/models/llama-tied/hf`, blobs, { recursive: true });
    await rename(join(blobs, "model.safetensors"), join(blobs, "0badc0de"));
    await symlink("../../blobs/0badc0de", join(snapshot, "model.safetensors"));
    await symlink("../../blobs/config.json", join(snapshot, "config.json"));
    const model = await openModelFolder(snapshot);
    expect(model.weightsFolder).toBe(blobs);
    expect(model.weights.place("model.norm.weight").source).toMatchObject({ external: { file: "0badc0de" } });
    expect(model.weights.values("model.norm.weight").length).toBe(48);
    model.close();
  });

  test("what is no model is refused in one sentence", async () => {
    await expect(openModelFolder(folder)).rejects.toThrow("has no config.json");
    const broken = join(folder, "broken");
    await mkdir(broken);
    await cp(`${fixtures}/models/llama-tied/hf/config.json`, join(broken, "config.json"));
    await expect(openModelFolder(broken)).rejects.toThrow("has no model.safetensors");
    await writeFile(join(broken, "model.safetensors"), "short");
    await expect(openModelFolder(broken)).rejects.toThrow("too few for a safetensors header");
    await writeFile(join(broken, "config.json"), '{"model_type": "gpt2"}');
    await expect(openModelFolder(broken)).rejects.toMatchObject({ message: expect.stringContaining("a gpt2 model"), exitCode: 2 });
  });
});

describe("GGUF import", () => {
  test("gives a folder that opens, with tokenizer and template", async () => {
    const target = join(folder, "tiny");
    const steps: number[] = [];
    await importGguf(`${fixtures}/gguf/tiny-llama.gguf`, target, { onProgress: (done) => steps.push(done) });
    const model = await openModelFolder(target);
    expect(model.description.config).toMatchObject({ family: "llama", hiddenSize: 64, vocabularySize: 1489, tiedEmbeddings: false });
    expect(steps.at(-1)).toBe(weightShapes(model.description).size);
    model.close();
    expect((await readdir(target)).toSorted()).toEqual([
      ...["config.json", "generation_config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"],
    ]);
    await expect(importGguf(`${fixtures}/gguf/tiny-llama.gguf`, target)).rejects.toThrow("is there already");
  });

  test("leaves nothing behind when it fails or is stopped", async () => {
    const target = join(folder, "nothing");
    await expect(importGguf(`${fixtures}/gguf/spm-vocab.gguf`, target)).rejects.toThrow("token_embd.weight");
    const controller = new AbortController();
    const stopped = importGguf(`${fixtures}/gguf/tiny-llama.gguf`, target, {
      signal: controller.signal,
      onProgress: () => controller.abort(new Error("stopped")),
    });
    await expect(stopped).rejects.toThrow("stopped");
    expect((await readdir(folder)).filter((name) => name.includes("nothing"))).toEqual([]);
  });
});

test("a written model is the model", async () => {
  const original = await openModelFolder(`${fixtures}/models/qwen3-mha-bf16/hf`);
  const target = join(folder, "copy");
  const { readFile } = await import("node:fs/promises");
  const files = { "config.json": await readFile(`${fixtures}/models/qwen3-mha-bf16/hf/config.json`, "utf8") };
  await writeModelFolder(target, { description: original.description, weight: (name) => original.weights.values(name), files });
  const copy = await openModelFolder(target);
  for (const name of weightShapes(copy.description).keys()) expect(copy.weights.values(name)).toEqual(original.weights.values(name));
  original.close();
  copy.close();
});
