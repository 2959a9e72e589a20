import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  behaviourDefinitions,
  behaviourMeasureNames,
  behaviourOf,
  type RecordedBehaviour,
  summariseBehaviour,
  type ToolUse,
  toolFailed,
  valuesOf,
} from "./index.ts";

const bash = (command: string, result: string | null = "", failed: boolean | null = false): ToolUse => ({
  tool: "bash",
  arguments: JSON.stringify({ command }),
  result,
  failed,
});

function rollout(change: Partial<RecordedBehaviour> = {}): RecordedBehaviour {
  return { succeeded: true, seconds: 3, calls: [], uses: [], requiredTools: [], compactions: 0, finalText: "Done.", ...change };
}

describe("toolFailed", () => {
  test.each([
    ["ls: cannot access x\n[exit 2]", true],
    ["[stopped after 120 s]", true],
    ["a line that says [exit 2] inside\nok", false],
    ["Exit code: 1\nWall time: 0.1 s\nOutput:\n", true],
    ["Exit code: 0\nOutput:\nfatal error in the log", false],
    ["Chunk ID: 1\nProcess exited with code 127\nOutput:\n", true],
    ["exit=1", true],
    ["exit=0 total 3\n[exit 1]", false],
    ["exit=127 sh: x: not found", true],
    ["Observation: nothing", false],
    ["Observation (exit 2): ls: no such file", true],
    ["Exit code 1\nnpm ERR!", true],
    ["<returncode>0</returncode>\n<output>\nerror\n</output>", false],
    ["<returncode>2</returncode>\n<output></output>", true],
    ['{"output":"x","metadata":{"exit_code":1}}', true],
    ['{"error":"no such tool"}', true],
    ['{"error":null,"rows":[]}', false],
    ["<tool_use_error>File not found</tool_use_error>", true],
    ["Error: ENOENT", true],
    ["if [ $? -ne 0 ]; then\n  exit 1\nfi", false],
    ["The tool failed: ENOENT", true],
    ["The answer was cut at its token limit, so this call was not run. Send a shorter one.", true],
    ["Traceback (most recent call last):\n  …\nin the file that was read", false],
    ["", false],
  ])("%j", (result, failed) => {
    expect(toolFailed(result, null)).toBe(failed);
  });
  test("the dialect's own mark wins where it says failure; no result says nothing", () => {
    expect(toolFailed("fine", true)).toBe(true);
    expect(toolFailed("[exit 1]", false)).toBe(true);
    expect(toolFailed(null, null)).toBeNull();
    expect(toolFailed(null, false)).toBe(false);
  });
});

describe("behaviourOf", () => {
  test("counts calls, tokens and tools", () => {
    const calls = [
      { promptTokens: 100, completionTokens: 10, chain: 0 },
      { promptTokens: 40, completionTokens: 5, chain: 1 },
      { promptTokens: 130, completionTokens: 20, chain: 0 },
    ];
    const measured = behaviourOf(rollout({ calls, uses: [bash("ls"), { tool: "read_file", arguments: "{}", result: "x", failed: false }] }));
    expect(measured).toMatchObject({ calls: 3, promptTokens: 270, completionTokens: 35, toolCalls: 2, genericShellShare: 0.5, contextGrowth: 30 });
    expect(measured.tools).toEqual({ bash: 1, read_file: 1 });
  });

  test("coverage counts tools by name and programs run through a shell", () => {
    const uses = [bash("cd /app && FOO=1 git log | head -3"), { tool: "search", arguments: "{}", result: "", failed: false }];
    expect(behaviourOf(rollout({ uses, requiredTools: [["git"], ["search"], ["make"]] }))).toMatchObject({
      requiredToolCoverage: 2 / 3,
      fullToolCoverage: 0,
    });
    expect(behaviourOf(rollout({ uses, requiredTools: [["git"]] }))).toMatchObject({ requiredToolCoverage: 1, fullToolCoverage: 1 });
    expect(behaviourOf(rollout({ uses }))).toMatchObject({ requiredToolCoverage: null, fullToolCoverage: null });
    const served = { tool: "mcp__warehouse__list_items", arguments: "{}", result: "", failed: false };
    expect(behaviourOf(rollout({ uses: [served], requiredTools: [["warehouse"]] })).fullToolCoverage).toBe(1);
    expect(behaviourOf(rollout({ uses: [{ ...served, tool: "list_items" }], requiredTools: [["warehouse", "list_items"]] })).fullToolCoverage).toBe(
      1,
    );
    expect(behaviourOf(rollout({ uses: [bash("echo 'git is a program'")], requiredTools: [["git"]] })).requiredToolCoverage).toBe(0);
  });

  test.each<[string, readonly string[], number | null]>([
    ["reads back", ["echo hi > a.txt", "cat a.txt"], 1 / 2],
    ["tests", ["sed -i s/a/b/ x.py", "python -m pytest -q"], 1 / 2],
    ["only reads before", ["cat a.txt", "echo hi > a.txt"], 0],
    ["changes twice, then reads", ["mv a b", "mv b c", "ls", "wc -l c"], 2 / 4],
    ["never changes", ["ls", "cat a 2>/dev/null", "grep -n x a 2>&1"], null],
    ["a comparison is no redirection", ["awk '$1 > 3' a", "ls"], null],
    ["git", ["git -c user.name=A revert --no-edit HEAD", "git status"], 1 / 2],
    ["here-document", ["cat > a <<'EOF'\nrm -rf /\nEOF", "diff a b"], 1 / 2],
    ["changes and tests at once", ["cat > a.mjs <<'END'\nlet x;\nEND\ncd /app && node --test 2>&1 | tail"], 1],
    ["reads, then changes at once", ["cat a && rm a"], 0],
    ["a program on the command line reads", ["echo 1 > a", 'node -e \'console.log(require("fs").readFileSync("a"))\''], 1 / 2],
    ["a program on the input writes", ['python3 - <<\'E\'\nopen("a", "w").write("x")\nE', "ls"], 1 / 2],
    ["a program on the input reads", ["touch a", "python3 - <<'E'\nprint(open(\"a\").read())\nE"], 1 / 2],
  ])("self-verification: %s", (_name, commands, rate) => {
    const measured = behaviourOf(rollout({ uses: commands.map((command) => bash(command)) }));
    expect(measured.selfVerificationRate).toBe(rate);
    expect(measured.selfVerified).toBe(rate === null ? null : Number(rate > 0));
  });
  test("self-verification knows tools that are no shell", () => {
    const use = (tool: string): ToolUse => ({ tool, arguments: "{}", result: "", failed: false });
    expect(behaviourOf(rollout({ uses: [use("Write"), use("TodoWrite"), use("Read")] }))).toMatchObject({
      selfVerified: 1,
      selfVerificationRate: 1 / 3,
    });
    expect(behaviourOf(rollout({ uses: [use("read_file"), use("apply_patch")] }))).toMatchObject({ selfVerified: 0 });
  });

  test("recovery is conditional on a failure", () => {
    expect(behaviourOf(rollout({ uses: [bash("a")] }))).toMatchObject({ stepReliability: 1, errorRecovery: null });
    expect(behaviourOf(rollout({ uses: [bash("a", "", true), bash("b")] }))).toMatchObject({ stepReliability: 0.5, errorRecovery: 1 });
    expect(behaviourOf(rollout({ uses: [bash("a"), bash("b", "", true)] }))).toMatchObject({ errorRecovery: 0 });
    expect(behaviourOf(rollout({ uses: [bash("a", null, null)] }))).toMatchObject({ stepReliability: null });
  });

  test("a repeat is redundant when nothing new came of it", () => {
    const again: ToolUse = { tool: "bash", arguments: '{ "command" : "ls" }', result: "a", failed: false };
    expect(behaviourOf(rollout({ uses: [bash("ls", "a"), again, bash("ls", "a b")] })).redundantRepeats).toBeCloseTo(1 / 3, 12);
  });

  test("reads the last plan of a planning tool", () => {
    const plan = (...statuses: readonly string[]): ToolUse => ({
      tool: "update_plan",
      arguments: JSON.stringify({ explanation: "x", plan: statuses.map((status) => ({ step: "s", status })) }),
      result: "",
      failed: false,
    });
    expect(behaviourOf(rollout({ uses: [plan("pending", "pending"), plan("completed", "in_progress"), bash("ls")] })).planStepsCompleted).toBe(0.5);
    const todos: ToolUse = {
      tool: "TodoWrite",
      arguments: JSON.stringify({ todos: [{ content: "a", status: "completed" }] }),
      result: "",
      failed: false,
    };
    expect(behaviourOf(rollout({ uses: [todos] })).planStepsCompleted).toBe(1);
    expect(behaviourOf(rollout({ uses: [bash("ls")] })).planStepsCompleted).toBeNull();
  });

  test("an ending without success either gives up or claims to be done", () => {
    expect(behaviourOf(rollout({ succeeded: false, finalText: "Done." }))).toMatchObject({ gaveUp: 0, falseDone: 1 });
    expect(behaviourOf(rollout({ succeeded: false, finalText: "I could not find the file." }))).toMatchObject({ gaveUp: 1, falseDone: 0 });
    expect(behaviourOf(rollout({ succeeded: false, finalText: null }))).toMatchObject({ gaveUp: 0, falseDone: 0 });
    expect(behaviourOf(rollout({ succeeded: true }))).toMatchObject({ gaveUp: null, falseDone: null });
    expect(behaviourOf(rollout({ succeeded: null }))).toMatchObject({ success: null, gaveUp: null, falseDone: null });
  });

  test("whatever an agent writes, shares stay shares", () => {
    const use = fc.record({
      tool: fc.oneof(fc.constantFrom("bash", "Write", "update_plan", "constructor", "__proto__"), fc.string()),
      arguments: fc.oneof(fc.string(), fc.json()),
      result: fc.option(fc.string()),
      failed: fc.option(fc.boolean()),
    });
    fc.assert(
      fc.property(fc.array(use), fc.option(fc.boolean()), fc.option(fc.string()), (uses, succeeded, finalText) => {
        const measured = behaviourOf(rollout({ uses, succeeded, finalText, requiredTools: [["git"]] }));
        for (const name of behaviourMeasureNames) {
          const value = measured[name];
          if (value === null) continue;
          expect(value).toBeGreaterThanOrEqual(0);
          if (behaviourDefinitions[name].unit === "share") expect(value).toBeLessThanOrEqual(1);
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe("summariseBehaviour", () => {
  const measured = [
    { task: "a", measures: behaviourOf(rollout({ uses: [bash("ls"), bash("pwd", "", true)] })) },
    { task: "a", measures: behaviourOf(rollout({ succeeded: false, uses: [{ tool: "search", arguments: "{}", result: "", failed: false }] })) },
    { task: "b", measures: behaviourOf(rollout({ succeeded: null })) },
  ];
  test("means are over the rollouts that a measure says something about", () => {
    const summary = summariseBehaviour(measured);
    expect(summary.rollouts).toBe(3);
    expect(summary.measures.success).toMatchObject({ n: 2, mean: 0.5 });
    expect(summary.measures.errorRecovery).toMatchObject({ n: 1, mean: 0 });
    expect(summary.measures.falseDone).toMatchObject({ n: 1, mean: 1 });
    expect(summary.tools).toEqual([
      { tool: "bash", calls: 2, share: 2 / 3 },
      { tool: "search", calls: 1, share: 1 / 3 },
    ]);
    expect(valuesOf(measured, "success")).toEqual([
      { cluster: "a", value: 1 },
      { cluster: "a", value: 0 },
    ]);
  });
  test("every measure has a sentence", () => {
    for (const name of behaviourMeasureNames) expect(behaviourDefinitions[name].definition).toMatch(/^[A-Z].*\.$/);
  });
});
