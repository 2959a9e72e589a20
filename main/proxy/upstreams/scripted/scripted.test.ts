import { describe, expect, test } from "vitest";
import type { Conversation, Message } from "../../../../engine/conversation/index.ts";
import { WorkbenchError } from "../../../errors.ts";
import type { UpstreamRequest } from "../upstream.ts";
import { composeAnswer } from "./compose.ts";
import { fillText, matchRule } from "./match.ts";
import { parseScript } from "./read-script.ts";
import type { ScriptRule } from "./schema.ts";
import { situationOf } from "./situation.ts";

const text = (role: "user" | "system", value: string): Message => ({ role, content: [{ type: "text", text: value }] });
const tool = (value: string): Message => ({ role: "tool", toolCallId: "c", content: [{ type: "text", text: value }] });
const turn: Message = { role: "assistant", content: [], toolCalls: [{ id: "c", kind: "function", name: "bash", arguments: "{}" }] };

function request(messages: readonly Message[], over: Partial<Conversation> = {}, call = 0): UpstreamRequest {
  const conversation: Conversation = {
    model: "m",
    messages,
    tools: [{ kind: "function", name: "bash" }],
    sampling: {},
    stream: false,
    extra: "{}",
    ...over,
  };
  return { conversation, rolloutId: "r", attempt: 0, callIndex: call, labels: { dialect: "chat", harness: "react", task: "org/list-files" } };
}
function rule(when: string): ScriptRule {
  const parsed = parseScript(`version: 1\nname: t\nrules:\n  - when: ${when}\n    answer: {text: x}`, "t.yaml").rules[0];
  if (parsed === undefined) throw new Error("no rule");
  return parsed;
}

describe("conditions", () => {
  const talk = request([text("system", "You are an agent."), text("user", "write cat into pets.txt"), turn, tool("exit 1: no such file")], {}, 3);

  test.each([
    ["{call: 3}", true],
    ["{call: {from: 1, to: 2}}", false],
    ["{turns: 1, toolResults: {from: 1}}", true],
    ["{last: no such file, lastRole: tool}", true],
    ["{last: write cat}", false],
    ["{user: [dog, cat]}", true],
    ["{user: {regex: '^WRITE', flags: i}}", true],
    ["{system: agent, toolResult: exit 1}", true],
    ["{task: list-files}", true],
    ["{task: pets}", true],
    ["{harness: [codex, react], dialect: chat}", true],
    ["{harness: codex}", false],
    ["{tools: bash}", true],
    ["{tools: [bash, browser]}", false],
    ["{withoutTools: browser}", true],
    ["{withoutTools: '*'}", false],
    ["{not: {user: cat}}", false],
    ["{user: cat, not: {user: dog}}", true],
  ])("%s → %s", (when, fits) => {
    expect(matchRule(rule(when), situationOf(talk)) !== null).toBe(fits);
  });

  test("patterns catch texts, and only caught names are replaced", () => {
    const captures = matchRule(rule("{user: {regex: 'write (?<word>\\w+) into (\\S+)'}}"), situationOf(talk));
    if (captures === null) throw new Error("does not fit");
    const named = (name: string) => `$\{${name}}`;
    expect(fillText(`${named("word")} > ${named("2")}; ${named("HOME")} ${named("1")} $word`, captures)).toBe(
      `cat > pets.txt; ${named("HOME")} cat $word`,
    );
  });
});

describe("answers", () => {
  const ids = (index: number) => `id${index}`;
  test("speak each harness's shell, and namespaces by their bare name", () => {
    const folder = `$\{d}`;
    const calls = [{ shell: `ls ${folder}` }, { tool: "spawn_agent", arguments: { n: 1.5, at: [folder] } }, { tool: "f", raw: '{"cut' }];
    const composed = composeAnswer({ calls }, new Map([["d", "/app"]]), new Set(["exec_command", "multi__spawn_agent"]), ids);
    expect(composed).toMatchObject({
      finishReason: "tool-calls",
      malformed: true,
      message: {
        toolCalls: [
          { id: "id0", name: "exec_command", arguments: '{"cmd":"ls /app"}' },
          { id: "id1", name: "multi__spawn_agent", arguments: '{"n":1.5,"at":["/app"]}' },
          { id: "id2", name: "f", arguments: '{"cut' },
        ],
      },
    });
  });

  test("say a command as a line where that is how a harness is told one", () => {
    const calls = [{ shell: "ls" }, { shell: "cat a\necho b" }];
    const { message } = composeAnswer({ text: "First.", calls }, new Map(), new Set(), ids, "scratchpad");
    expect(message).toMatchObject({
      content: [{ text: "First.\nAction: ( ls ); echo Y2F0IGEKZWNobyBi | base64 -d | bash" }],
      toolCalls: [],
    });
  });

  test("end by a command where a text alone is taken for a fault", () => {
    const { message, finishReason } = composeAnswer({ text: "Done." }, new Map(), new Set(["bash"]), ids, "mini-swe-agent");
    expect(message).toMatchObject({
      content: [{ text: "Done." }],
      toolCalls: [{ id: "id0", name: "bash", arguments: '{"command":"echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"}' }],
    });
    expect(finishReason).toBe("tool-calls");
  });

  test("say so when there is no shell", () => {
    expect(composeAnswer({ calls: [{ shell: "ls" }] }, new Map(), new Set(), ids)).toMatchObject({
      finishReason: "stop",
      message: { content: [{ text: "No shell tool is offered to run: ls" }], toolCalls: [] },
    });
  });
});

describe("a file that is wrong is told with its line", () => {
  test.each([
    ["version: 1\nname: t\nrules:\n  - wen: {}\n    answer: {text: x}", "t.yaml:4"],
    ["version: 1\nname: t\nrules:\n  - when: {last: {regex: '('}}\n    answer: {text: x}", "t.yaml:4: `rules.0.when.last"],
    ["version: 1\nname: t\nrules:\n  - answer: {text: x}\n    steps: [{text: y}]", "not both"],
    ["version: 1\nname: [\n", "t.yaml:"],
    ["version: 2\nname: t\nrules: []", "t.yaml:1: `version` must be 1."],
  ])("%s", (source, phrase) => {
    expect(() => parseScript(source, "t.yaml")).toThrow(WorkbenchError);
    expect(() => parseScript(source, "t.yaml")).toThrow(phrase);
  });
});
