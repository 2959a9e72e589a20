import { expect, test } from "vitest";
import { experimentSpecSchema } from "../api/experiment-views.ts";
import type { HarnessManifest } from "../harnesses/index.ts";
import type { Task } from "../tasks/index.ts";
import { planRollouts } from "./plan.ts";

const task = (name: string) => ({ name, digest: `sha256:${name}`, path: `/tasks/${name}` }) as Task;
const harness = (id: string) => ({ id, version: "1.0.0" }) as HarnessManifest;
const spec = experimentSpecSchema.parse({ policies: ["p", "q"], k: 3, seed: 7 });

test("tasks × harnesses × policies × k, with equal seeds where only harness or policy differ", () => {
  let id = 0;
  const planned = planRollouts({ spec, tasks: [task("a"), task("b")], harnesses: [harness("x"), harness("y")] }, "e-1", 5, () => `r-${id++}`);
  expect(planned).toHaveLength(2 * 2 * 2 * 3);
  expect(new Set(planned.map((rollout) => rollout.id)).size).toBe(planned.length);
  expect(planned[0]).toMatchObject({ experimentId: "e-1", taskDigest: "sha256:a", phase: "queued", attempts: 0, reward: null, createdAt: 5 });
  const seeds = new Map<string, Set<number>>();
  for (const { taskName, groupIndex, seed } of planned) {
    const key = `${taskName} ${groupIndex}`;
    seeds.set(key, (seeds.get(key) ?? new Set()).add(seed));
  }
  expect([...seeds.values()].every((set) => set.size === 1)).toBe(true);
  expect(new Set(planned.map((rollout) => rollout.seed)).size).toBe(6);
});

test("an experiment without end is refused before it fills the store", () => {
  const endless = { ...spec, k: 1_000_000_000 };
  expect(() => planRollouts({ spec: endless, tasks: [task("a")], harnesses: [harness("x")] }, "e-1", 5, () => "r-1")).toThrow(
    "The experiment would have 2000000000 rollouts; at most 20000 are possible.",
  );
});
