import { describe, expect, it } from "vitest";
import { advantageStep } from "../../parts/advantage.ts";
import type { TrainingRunView, TrainingStepView } from "../../service/views.ts";
import { statusWords, timeLeft } from "../../words/training.ts";
import { beforeAfter } from "./before-after.ts";
import { configurationsOf, shownConfigurations, slotsOf } from "./configurations.ts";
import { type StepRollout, stepGroups, weightiest } from "./groups.ts";
import { curvesOf, otherWarnings, recent, smoothingOf, tiles } from "./measures.ts";

const point = (step: number, change: Partial<TrainingStepView> = {}): TrainingStepView => ({
  step,
  stage: "rl",
  at: 0,
  policyVersion: `v${step}`,
  seconds: { total: 1, sampling: 1, sandbox: 0, training: 0, evaluation: 0, idle: 0, engine: 0 },
  rollouts: 8,
  used: 8,
  left: {},
  reward: { n: 8, mean: 0.5, low: 0.3, high: 0.7 },
  completionTokens: 20,
  tokens: 60,
  truncated: 0,
  flatGroupShare: 0.25,
  loss: 0.01,
  gradientNorm: 1,
  rate: 1e-4,
  updates: 1,
  trainedTokens: 100,
  uniqueTokens: 200,
  staleness: 0,
  memoryBytes: null,
  metrics: {},
  health: [],
  checkpoint: false,
  ...change,
});
const none = { n: 0, mean: null, low: null, high: null };
const run = (id: string, change: Partial<TrainingRunView> = {}): TrainingRunView => ({
  id,
  name: "starter",
  configuration: "c1",
  seed: 1,
  createdAt: 0,
  endedAt: null,
  status: "running",
  problem: null,
  activity: "",
  file: "",
  algorithm: "grpo",
  base: "starter",
  backend: "embedded",
  harnesses: ["react"],
  step: 2,
  steps: 80,
  secondsPerStep: null,
  memory: null,
  experiment: null,
  points: [],
  evaluations: [],
  gain: null,
  seconds: { total: 0, sampling: 0, sandbox: 0, training: 0, evaluation: 0, idle: 0, engine: 0 },
  ...change,
});

describe("configurations", () => {
  it("hold the seeds of one run file, named by what tells them apart", () => {
    const all = configurationsOf([
      run("a", { seed: 2 }),
      run("b", { seed: 1 }),
      run("c", { configuration: "c2", algorithm: "rloo" }),
      run("d", { configuration: "c3", name: "other" }),
      run("e", { configuration: "c4", algorithm: "ppo" }),
      run("f", { configuration: "c5", algorithm: "ppo" }),
    ]);
    expect(all.map(({ label }) => label)).toEqual(["starter, grpo", "starter, rloo", "other", "starter (2)", "starter (1)"]);
    expect(all[0]?.runs.map(({ id }) => id)).toEqual(["b", "a"]);
  });

  it("are shown with the open run, unless a person says otherwise, and keep their series", () => {
    const all = configurationsOf([run("a"), run("b", { configuration: "c2" }), run("c", { configuration: "c3", name: "other" })]);
    const open = all[0]?.runs[0] ?? null;
    expect(shownConfigurations(all, open, {}).map(({ key }) => key)).toEqual(["c1", "c2"]);
    expect(shownConfigurations(all, open, { c2: false, c3: true }).map(({ key }) => key)).toEqual(["c1", "c3"]);
    const first = slotsOf(["c1", "c2"], new Map());
    expect([...slotsOf(["c2", "c3"], first)]).toEqual([
      ["c2", 1],
      ["c3", 0],
    ]);
  });
});

describe("measures", () => {
  it("leave gaps where nothing was measured, and take the policy loss where there is one", () => {
    const curves = curvesOf(
      run("a", {
        points: [point(1, { stage: "sft", loss: 3 }), point(2, { loss: null }), point(3, { metrics: { divergence: 0.2, policyDivergence: 9 } })],
      }),
    );
    expect([...curves.loss.steps]).toEqual([2, 3]);
    expect(curves.loss.values[0]).toBeNaN();
    expect([...curves.divergence.values]).toEqual([Number.NaN, Number.NaN, 0.2]);
  });

  it("smooth a long run and leave a short one as it is", () => {
    expect([smoothingOf(9, 3), smoothingOf(9, 24), smoothingOf(9, 200), smoothingOf(1, 200)]).toEqual([1, 4, 9, 1]);
  });

  it("write what is tiny in powers of ten, and nothing as nothing", () => {
    const gap = tiles.find(({ key }) => key === "gap");
    expect([0, 0.0114, 3.2e-6].map((value) => gap?.format(value))).toEqual(["0.000", "0.011", "3.2e−6"]);
  });

  it("show the last values, and every warning somewhere", () => {
    expect(recent([point(1), point(2, { truncated: null }), point(3, { truncated: 0.5 })], ({ truncated }) => truncated, 2)).toEqual([0, 0.5]);
    const odd = { measure: "something new", value: 1, limit: null, message: "Look." };
    expect(otherWarnings(point(1, { health: [odd, { measure: "truncated", value: 1, limit: 0.05, message: "Long." }] }))).toEqual([odd]);
  });
});

describe("groups of a step", () => {
  const member = (group: string, reward: number | null, lossShare: number | null): StepRollout => ({
    rollout: `${group}-${reward}-${lossShare}`,
    task: `task ${group}`,
    harness: "react",
    group,
    policyVersion: "v1",
    reward,
    advantage: null,
    trainedTokens: 10,
    lossShare,
    leftOut: null,
  });

  it("come by share of the loss, those without variance last; one that is missing its reward is no 0", () => {
    const groups = stepGroups([
      member("a", 1, 0),
      member("a", 1, 0),
      member("b", 1, 0.1),
      member("b", 0, 0.2),
      member("c", 0, 0.5),
      member("c", null, null),
    ]);
    expect(groups.map(({ key, flat }) => [key, flat])).toEqual([
      ["c", false],
      ["b", false],
      ["a", true],
    ]);
    expect(weightiest(groups)?.rollout).toBe("c-0-0.5");
    expect(weightiest([])).toBeNull();
  });

  it("have advantages on seven steps", () => {
    expect([-2, -1, -0.1, 0, 0.1, 1, 2].map((advantage) => advantageStep(advantage, 2))).toEqual([-3, -2, -1, 0, 1, 2, 3]);
    expect(advantageStep(1, 0)).toBe(0);
  });
});

describe("before and after", () => {
  const evaluation = (step: number, mean: number): TrainingRunView["evaluations"][number] => ({
    step,
    policyVersion: "v",
    at: 0,
    samples: 1,
    success: { n: 40, mean, low: mean - 0.1, high: mean + 0.1 },
    passes: {},
    families: { write: { n: 8, mean, low: null, high: null } },
    harnesses: { react: { n: 40, mean, low: null, high: null } },
    behaviour: { calls: { n: 40, mean: 3, low: null, high: null }, success: none },
    budget: { rollouts: 40, calls: 100, promptTokens: 1, completionTokens: 1, seconds: 1 },
    missing: {},
  });

  it("needs two evaluations", () => {
    expect(beforeAfter(run("a", { evaluations: [evaluation(0, 0.4)] }), {})).toBeNull();
    const table = beforeAfter(run("a", { evaluations: [evaluation(0, 0.4), evaluation(40, 0.7), evaluation(80, 0.8)] }), {});
    expect([table?.from, table?.to, table?.success.before.mean, table?.success.after.mean]).toEqual([0, 80, 0.4, 0.8]);
    expect(table?.families.map(({ name }) => name)).toEqual(["write"]);
    expect([table?.harnesses.length, table?.behaviour.map(({ name }) => name)]).toEqual([0, ["calls"]]);
  });
});

describe("a run in words", () => {
  it("says where it is, and what is left of it", () => {
    expect(statusWords(run("a")).word).toBe("step 2 of 80");
    expect(statusWords(run("a", { status: "failed" })).word).toBe("failed at step 2 of 80");
    expect(statusWords(run("a", { status: "ended" }))).toMatchObject({ word: "ended", tone: "success" });
    expect(timeLeft(run("a", { secondsPerStep: 2 }))).toBe("2.0\u00a0s a step, about 3\u00a0m left");
    expect(timeLeft(run("a", { secondsPerStep: 2, status: "paused" }))).toBeNull();
  });
});
