import { expect, test } from "vitest";
import { type AlgorithmName, namedAlgorithms } from "../../engine/training/index.ts";
import { algorithmOf, flatGroupsOf } from "./algorithm-of.ts";
import { type RlStage, readRunFile } from "./run-file.ts";

function stage(fields: string): RlStage {
  const yaml = `name: x\nbase: ./m\ntasks: { train: ./t }\nstages: [{ kind: rl, steps: 1, tasks: 1, rate: 1, ${fields} }]\n`;
  const reading = readRunFile(yaml, "/");
  const [only] = reading.ok ? reading.settings.stages : [];
  if (only?.kind !== "rl") throw new Error(reading.ok ? "no stage" : reading.faults[0]?.message);
  return only;
}

test.each(Object.keys(namedAlgorithms) as AlgorithmName[])("%s without overrides is the named algorithm", (name) => {
  expect(algorithmOf(stage(`algorithm: ${name}`))).toEqual(namedAlgorithms[name]);
});

test("what the run file sets otherwise is set, the rest stays", () => {
  const changed = algorithmOf(
    stage(
      "algorithm: grpo, overrides: { clip: { low: 0.1, high: 0.3 }, divergence: 0, importance: 0, divideByDeviation: false, entropy: 0.01 }, flatGroups: refill",
    ),
  );
  expect(changed).toEqual({
    ...namedAlgorithms.grpo,
    advantage: { kind: "group", divideByDeviation: false },
    loss: { ...namedAlgorithms.grpo.loss, low: 0.1, high: 0.3 },
    divergence: null,
    correction: { importance: null, rejection: [] },
    entropyCoefficient: 0.01,
    flatGroups: "drop",
  });
});

test("a divergence may be asked of an algorithm that has none, and follow a target where it is in the reward", () => {
  expect(algorithmOf(stage("algorithm: rloo, overrides: { divergence: 0.02 }")).divergence).toMatchObject({
    place: "loss",
    coefficient: 0.02,
    adaptive: null,
  });
  const target = { target: 0.1, horizon: 1000 };
  expect(algorithmOf(stage("algorithm: ppo, overrides: { divergenceTarget: { target: 0.1, horizon: 1000 } }")).divergence?.adaptive).toEqual(target);
});

test("DAPO tries other tasks in place of flat groups, unless told otherwise", () => {
  expect(flatGroupsOf(stage("algorithm: dapo"))).toBe("refill");
  expect(flatGroupsOf(stage("algorithm: dapo, flatGroups: keep"))).toBe("keep");
  expect(flatGroupsOf(stage("algorithm: grpo"))).toBe("keep");
});
