import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { AssistantMessage, Message } from "../conversation/index.ts";
import { compileTemplate } from "../templates/index.ts";
import { createPromptBuilder, type PromptHistory } from "./index.ts";
import { answer, conversationOf, fixtureReader, runTool, said } from "./simulated-rollout.test-data.ts";

const fixtures = new URL("../../tests/fixtures/", import.meta.url);
const { readTokenizer, readTemplate, builderOf } = fixtureReader((path) => readFileSync(new URL(path, fixtures), "utf8"));
const now = new Date("2031-02-07T09:05:03");
const asSampled = { mode: "as-sampled", now } as const;
const asTemplate = { mode: "as-template", now } as const;

describe("a history", () => {
  const tokenizer = readTokenizer("chatml-bpe");
  const builder = createPromptBuilder({ tokenizer, template: readTemplate("chatml-stable") });
  const [end = -1] = builder.endIds;
  const opening = [said("system", "s"), said("user", "q")];

  function talk(history: PromptHistory, id: string, messages: readonly Message[], text: string, tools = [runTool]): readonly Message[] {
    const conversation = conversationOf(messages, tools);
    const prompt = history.assemble(conversation, asSampled);
    history.record({
      callId: id,
      conversation,
      promptIds: prompt.ids,
      sampledIds: Int32Array.from([...tokenizer.encode(text), end]),
      message: answer(text),
    });
    return [...messages, answer(text)];
  }

  it("gives the same prompt to the same request", () => {
    const history = builder.history();
    const first = history.assemble(conversationOf(opening), asSampled);
    expect(history.assemble(conversationOf(opening), { mode: "as-sampled", now: new Date(0) })).toEqual(first);
  });

  it("tells why a prompt goes on from nothing", () => {
    const history = builder.history();
    const one = [...talk(history, "1", opening, "yes"), said("user", "a")];
    const two = [...talk(history, "2", one, "no"), said("user", "b")];
    expect(history.assemble(conversationOf(two, []), asSampled)).toMatchObject({ breakCause: "tools-changed", parentCallId: null });
    const edited = [...two.slice(0, 2), answer("maybe"), ...two.slice(3)];
    expect(history.assemble(conversationOf([...edited, said("user", "c")], [runTool]), asSampled)).toMatchObject({
      breakCause: "edited-turn",
      parentCallId: null,
    });
    expect(history.assemble(conversationOf([...opening, said("user", "summary")], [runTool]), asSampled)).toMatchObject({ breakCause: "compaction" });
    expect(history.assemble(conversationOf([said("system", "s"), said("user", "another")], [runTool]), asSampled)).toMatchObject({
      breakCause: null,
    });
    expect(history.assemble(conversationOf(two, [runTool]), asSampled)).toMatchObject({ breakCause: null, parentCallId: "2" });
  });

  it("keeps equal answers of two subagents apart", () => {
    const history = builder.history();
    const conversation = conversationOf(opening);
    const prompt = history.assemble(conversation, asSampled);
    for (const [callId, sampledIds] of [
      ["1", Int32Array.of(9, 10, end)],
      ["2", Int32Array.of(11, end)],
    ] as const) {
      history.record({ callId, conversation, promptIds: prompt.ids, sampledIds, message: answer("same") });
    }
    const next = conversationOf([...opening, answer("same"), said("user", "on")]);
    expect(history.assemble(next, asSampled).parentCallId).toBe("1");
    expect(history.assemble(next, asSampled).parentCallId).toBe("2");
  });

  it("counts breaks by the template's own rendering", () => {
    const dropping = builderOf("chatml-bpe", "thinking-drop").history();
    const asked = conversationOf([said("user", "q")]);
    const first = dropping.assemble(asked, asTemplate);
    const sampledIds = Int32Array.from([...tokenizer.encode("<think>\nhm\n</think>\n\nyes"), end]);
    dropping.record({ callId: "1", conversation: asked, promptIds: first.ids, sampledIds, message: answer("yes") });
    const next = conversationOf([said("user", "q"), answer("yes"), said("user", "on")]);
    expect(dropping.assemble(next, asTemplate)).toMatchObject({ breakCause: "template", parentCallId: null });

    const stable = builder.history();
    const asked2 = conversationOf([said("user", "q")]);
    const prompt = stable.assemble(asked2, asTemplate);
    stable.record({
      callId: "1",
      conversation: asked2,
      promptIds: prompt.ids,
      sampledIds: Int32Array.from([...tokenizer.encode("yes"), end]),
      message: answer("yes"),
    });
    expect(stable.assemble(next, asTemplate)).toMatchObject({ breakCause: null, parentCallId: "1" });
  });

  it("notices ids that no tokenizer would choose", () => {
    const history = builder.history();
    const asked = conversationOf([said("user", "q")]);
    const prompt = history.assemble(asked, asTemplate);
    const oddly = [..."yes"].flatMap((character) => [...tokenizer.encode(character)]);
    history.record({ callId: "1", conversation: asked, promptIds: prompt.ids, sampledIds: Int32Array.from([...oddly, end]), message: answer("yes") });
    const next = conversationOf([said("user", "q"), answer("yes"), said("user", "on")]);
    expect(history.assemble(next, asTemplate)).toMatchObject({ breakCause: "re-tokenisation" });
    expect(history.assemble(conversationOf([...next.messages, said("user", "more")]), asSampled).parentCallId).toBe("1");
  });
});

describe("templates of other shapes", () => {
  const tokenizer = readTokenizer("chatml-bpe");
  const opening = "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";
  const shapes = {
    "no closing token": `{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}{% endfor %}${opening}`,
    "plain text": "{% for m in messages %}{{ m.role | title }}: {{ m.content }}\n{% endfor %}{% if add_generation_prompt %}Assistant: {% endif %}",
    "a line end before the closing token": `{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}\n<|im_end|>\n{% endfor %}${opening}`,
    "calls hidden": `{% for m in messages %}<|im_start|>{{ m.role }}\n{% if m.tool_calls %}CALL{% else %}{{ m.content }}{% endif %}<|im_end|>\n{% endfor %}${opening}`,
    "an opened thought": `{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content.split('</think>')[-1] }}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n<think>\n{% endif %}`,
    "old turns dropped": `{% for m in messages[-1:] %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}${opening}`,
  };
  const inBetween = (shape: keyof typeof shapes, withCall: boolean): string | null => {
    const history = createPromptBuilder({ tokenizer, template: compileTemplate(shapes[shape]) }).history();
    const asked = conversationOf([said("user", "q")]);
    const prompt = history.assemble(asked, asSampled);
    const sampledIds = Int32Array.from([...tokenizer.encode("yes"), tokenizer.idOf("<|im_end|>") ?? -1]);
    const message: AssistantMessage = withCall
      ? { role: "assistant", content: [], toolCalls: [{ id: "1", kind: "function", name: "run", arguments: "{}" }] }
      : answer("yes");
    history.record({ callId: "1", conversation: asked, promptIds: prompt.ids, sampledIds, message });
    const next = history.assemble(conversationOf([said("user", "q"), message, said("user", "on")]), asSampled);
    if (next.parentCallId === null) return null;
    return tokenizer.decode(next.ids.subarray(prompt.ids.length + sampledIds.length));
  };

  it.each([
    ["no closing token", "<|im_start|>user\non<|im_start|>assistant\n"],
    ["plain text", "\nUser: on\nAssistant: "],
    ["a line end before the closing token", "\n<|im_start|>user\non\n<|im_end|>\n<|im_start|>assistant\n"],
    ["calls hidden", "\n<|im_start|>user\non<|im_end|>\n<|im_start|>assistant\n"],
    ["an opened thought", "\n<|im_start|>user\non<|im_end|>\n<|im_start|>assistant\n<think>\n"],
    ["old turns dropped", null],
  ] as const)("%s", (shape, expected) => {
    expect(inBetween(shape, false)).toBe(expected);
    expect(inBetween(shape, true)).toBe(expected);
  });
});
