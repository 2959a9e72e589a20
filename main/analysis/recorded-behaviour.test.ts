import { readFileSync } from "node:fs";
import { afterEach, expect, test } from "vitest";
import { behaviourDefinitions } from "../../engine/behaviour/index.ts";
import { plainTurn, type RecordedStore, recordedStore, type TestRollout } from "../exports/recorded-store.test-data.ts";
import { measureExperiment, measureRollout } from "./index.ts";

let recorded: RecordedStore | null = null;
afterEach(() => {
  recorded?.dispose();
  recorded = null;
});

function measured(rollout: TestRollout, requiredTools: readonly string[] = []) {
  recorded = recordedStore([rollout]);
  const [record] = recorded.store.rolloutsOf(recorded.experimentId);
  if (record === undefined) throw new Error("the rollout was not recorded");
  return measureRollout(recorded.store, record, requiredTools);
}

const ran = (line: string, result: string) => plainTurn(line, 3, { command: { line, result } });

test("tool calls with their results, from the requests that brought them back", () => {
  const turns = [ran("cat a", "cat: a: No such file\n[exit 1]"), ran("echo x > a", "(no output)"), ran("cat a", "x"), plainTurn(null)];
  expect(measured({ task: "a", reward: 1, turns }, ["cat", "git"])).toMatchObject({
    ...{ success: 1, calls: 4, toolCalls: 3, completionTokens: 12, seconds: 3, stepReliability: 2 / 3, errorRecovery: 1 },
    ...{ selfVerified: 1, selfVerificationRate: 1 / 2, requiredToolCoverage: 1 / 2, redundantRepeats: 0, compactions: 0, falseDone: null },
    tools: { bash: 3 },
  });
});

test("commands in the text count where their observations came back", () => {
  const say = (text: string, reply: string) => plainTurn(null, 3, { text, reply });
  const turns = [
    say("Action: rm a", "Observation (exit 1): rm: a: No such file"),
    say("Action: touch a", "Observation: nothing"),
    say("Answer: It is done.", ""),
  ];
  expect(measured({ task: "a", reward: 0, turns })).toMatchObject({
    toolCalls: 2,
    stepReliability: 1 / 2,
    errorRecovery: 1,
    falseDone: 1,
    gaveUp: 0,
    tools: { shell: 2 },
  });
});

test("a compaction is counted, and what came before it still counts", () => {
  const turns = [ran("ls", "a"), plainTurn("cat a", 3, { compacted: true }), plainTurn(null)];
  expect(measured({ task: "a", reward: 1, turns })).toMatchObject({ compactions: 1, toolCalls: 2, calls: 3 });
});

test("what is no doing of the policy's has no success and no failure", () => {
  const outcome = { status: "environment-failure", cause: "disk-full", action: "mask", detail: null } as const;
  expect(measured({ task: "a", reward: 0, outcome, turns: [plainTurn(null)] })).toMatchObject({ success: null, gaveUp: null, falseDone: null });
});

test("an experiment is measured by rollout; a task that is gone requires nothing", async () => {
  recorded = recordedStore([
    { task: "a", reward: 1, turns: [plainTurn(null)] },
    { task: "b", reward: null, phase: "running", turns: [] },
  ]);
  const all = await measureExperiment(recorded.store, recorded.experimentId);
  expect(all.map(({ task, measures }) => [task, measures.success, measures.requiredToolCoverage])).toEqual([["org/a", 1, null]]);
});

test("the page that explains the measures says what their definitions say", () => {
  const page = readFileSync(new URL("../../docs/behaviour-measures.md", import.meta.url), "utf8");
  for (const { name, definition } of Object.values(behaviourDefinitions)) expect(page).toContain(`| ${name} | ${definition} |`);
});
