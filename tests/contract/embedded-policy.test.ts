/**
 * A policy that this machine runs, behind the proxy: what it sampled is what the records hold, id for id, and the trainer gives those ids the
 * log-probabilities that the sampler drew them with.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { placeInRows, SequenceModel } from "../../engine/training/index.ts";
import { openRuntime } from "../../main/engine-runtime/index.ts";
import { importGguf, openModelFolder } from "../../main/models/index.ts";
import { createPolicyRegistry } from "../../main/proxy/index.ts";
import { createSamplerPool } from "../../main/sampler/index.ts";
import { rebuildTrajectories } from "../../main/trajectories/index.ts";
import { layProxyBed, type ProxyBed } from "../stand-ins/proxy-bed.ts";

const samplers = createSamplerPool();
const folder = mkdtempSync(join(tmpdir(), "of-embedded-"));
let bed: ProxyBed;
beforeAll(async () => {
  bed = await layProxyBed();
  await importGguf("tests/fixtures/gguf/tiny-llama.gguf", join(folder, "tiny"));
});
afterAll(async () => {
  await bed.close();
  await samplers.close();
  rmSync(folder, { recursive: true, force: true });
});

test("four concurrent rollouts of three turns are each one trainable chain with the trainer's log-probabilities", async () => {
  const policies = createPolicyRegistry({
    ...{ store: bed.store, policiesFolder: resolve("resources/policies"), env: {} },
    embedded: { samplers, modelsFolder: folder },
  });
  expect(policies.list().at(-1)).toMatchObject({
    definition: { id: "embedded:tiny", kind: "embedded" },
    address: join(folder, "tiny"),
    takesTokenIds: true,
  });
  expect(() => policies.remove("embedded:tiny")).toThrow("is a model folder, not a saved endpoint");
  expect((await policies.probe("embedded:tiny")).capture).toBe("ids+logprobs");
  const upstream = await policies.resolve("embedded:tiny?maxTokens=24&deterministic=true");
  const rollouts = await Promise.all(
    [1, 2, 3, 4].map(async (seed) => {
      const open = await bed.open(upstream, { tokenMode: "as-sampled", seed });
      const messages: { role: string; content: string }[] = [];
      for (const question of ["how many boats?", "and how many sails?", "then count again"]) {
        messages.push({ role: "user", content: question });
        const reply = await open.chat({ model: "policy", messages });
        const { choices } = (await reply.json()) as { choices: { message: { content: string | null } }[] };
        messages.push({ role: "assistant", content: choices[0]?.message.content ?? "" });
      }
      await open.session.close();
      return open.rolloutId;
    }),
  );
  await upstream.close();

  const model = await openModelFolder(join(folder, "tiny"));
  const memory = { attentionChunk: 64, headChunk: 64, keepProbabilities: true, checkpointLayers: false, narrowWeights: false };
  const scorer = new SequenceModel({
    ...{ ...model, runtime: await openRuntime(), adapter: null, parameters: new Map(), trained: "adapter" },
    ...{ withEntropy: false, withValues: false, memory },
  });
  let difference = 0;
  let sampled = 0;
  for (const rolloutId of rollouts) {
    const trajectories = rebuildTrajectories(bed.store, rolloutId);
    expect(trajectories.breaks).toEqual({});
    expect(trajectories.chains.length).toBe(1);
    const { ids, mask } = trajectories.tokensOf(0);
    const recorded = bed.store.nodesOf(rolloutId).flatMap((node) => [...(node.logprobs ?? [])]);
    const sequence = Int32Array.from(ids);
    const placement = placeInRows([sequence.length], { rows: 1, width: sequence.length - 1 });
    const { logprobs } = await scorer.score({ sequences: [sequence], placement });
    const trained = [...mask].flatMap((trains, index) => (trains === 1 ? [logprobs.values[index - 1] ?? Number.NaN] : []));
    expect(trained.length).toBe(recorded.length);
    for (const [index, value] of trained.entries()) difference += Math.abs(value - (recorded[index] ?? Number.NaN));
    sampled += trained.length;
  }
  await scorer.close();
  model.close();
  console.log(`sampled ${sampled} tokens; mean absolute difference of log-probabilities ${(difference / sampled).toExponential(1)}`);
  expect(sampled).toBeGreaterThan(100);
  expect(difference / sampled).toBeLessThan(1e-4);
});
