import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { readRunFile } from "./run-file.ts";
import { summaryOf } from "./run-summary.ts";

const shipped = resolve("resources/training");
const smallest = "name: small\nbase: ./model\ntasks: { train: ./tasks }\nstages:\n  - { kind: rl, steps: 3, tasks: 2, rate: 1e-5 }\n";

function faultsOf(yaml: string): readonly string[] {
  const reading = readRunFile(yaml, "/runs");
  return reading.ok ? [] : reading.faults.map(({ line, message }) => `${line}: ${message}`);
}

test.each(readdirSync(shipped))("the shipped run file %s is good, and says what it does", (name) => {
  const reading = readRunFile(readFileSync(join(shipped, name), "utf8"), shipped);
  expect(reading.ok ? [] : reading.faults).toEqual([]);
  if (reading.ok) expect(summaryOf(reading.settings).join("\n")).toMatch(/rollouts/);
});

describe("a run file", () => {
  test("names a teacher's rules from its own folder", () => {
    const teacher =
      "name: t\nbase: tiny\ntasks: { train: ./tasks }\nstages:\n  - { kind: sft, rate: 1e-4, teacher: { policy: 'scripted:rules.yaml' } }\n";
    const reading = readRunFile(teacher, "/runs");
    expect(reading.ok && reading.settings.stages[0]).toMatchObject({ teacher: { policy: "scripted:/runs/rules.yaml" } });
  });

  test("may be small: everything else has a default, and paths are meant from its folder", () => {
    const reading = readRunFile(smallest, "/runs");
    if (!reading.ok) throw new Error(reading.faults[0]?.message);
    const { base, tasks, train, harnesses, stages, deterministic } = reading.settings;
    expect({ base, tasks, harnesses, deterministic }).toEqual({
      base: "/runs/model",
      tasks: { train: ["/runs/tasks"] },
      harnesses: [{ id: "react", weight: 1 }],
      deterministic: false,
    });
    expect(train).toMatchObject({ rank: 16 });
    expect(stages[0]).toMatchObject({ algorithm: "grpo", group: 8, updates: 1, collection: { mode: "synchronous", stale: "drop" } });
  });

  test.each([
    ["an unknown key", smallest.replace("steps: 3", "steps: 3, groop: 4"), /^5: .*unknown key `groop`/],
    ["an unknown algorithm", smallest.replace("steps: 3", "algorithm: magic, steps: 3"), /^5: .*must be one of grpo, dr-grpo/],
    ["no stage", smallest.replace(/stages:[\s\S]*/, "stages: []\n"), /^4: `stages` needs at least one entry/],
    ["a rate of zero", smallest.replace("1e-5", "0"), /^5: .*rate` must be more than 0/],
    ["a teacher that is none", smallest.replace(/- \{.*/, "- { kind: sft, rate: 1e-4, teacher: { perTask: 2 } }"), /^5: .*teacher` names either/],
    [
      "asynchronous and deterministic",
      `${smallest}deterministic: true\n`.replace("rate: 1e-5", "rate: 1e-5, collection: { mode: one-step-asynchronous }"),
      /^6: A deterministic run collects synchronously/,
    ],
    ["all weights for vLLM", `${smallest}train: weights\nsampler: { vllm: box }\n`, /^7: A vLLM server takes adapters only/],
    ["a word that is no form", `${smallest}train: wieghts\n`, /^6: `train` must be `weights` or a table\.$/],
    ["a number for tasks", smallest.replace("./tasks", "3"), /^3: `tasks.train` must be a text, a table or a list\.$/],
    [
      "a form with an unknown key",
      smallest.replace("./tasks", "{ starter: { cuont: 8 } }"),
      /^3: `tasks.train.starter`: unknown key `cuont`\.$|^3: .*count` is missing/,
    ],
    ["groups of one", smallest.replace("rate:", "group: 1, rate:"), /^1: `group` must be at least 2: grpo compares/],
    ["an evaluation of nothing", `${smallest}evaluation: { every: 2 }\n`, /^6: Nothing is evaluated without tasks that are held out/],
    ["no table", "- a\n- b\n", /^1: The run file is not a table of keys/],
  ])("%s is one sentence with its line", (_name, yaml, expected) => {
    expect(faultsOf(yaml)[0]).toMatch(expected);
  });
});
