import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AssistantMessage, Message } from "../conversation/index.ts";
import { createPromptBuilder } from "./index.ts";
import {
  answer,
  answered,
  anyText,
  anyTurn,
  asHarnessSends,
  conversationOf,
  fixtureReader,
  runTool,
  said,
  sample,
  templateNames,
  tokenizerNames,
  writeCall,
} from "./simulated-rollout.test-data.ts";

const fixtures = new URL("../../tests/fixtures/", import.meta.url);
const { readTokenizer, readTemplate, builderOf } = fixtureReader((path) => readFileSync(new URL(path, fixtures), "utf8"));
const now = new Date("2031-02-07T09:05:03");
const asSampled = { mode: "as-sampled", now } as const;
const asTemplate = { mode: "as-template", now } as const;

function beginsWith(ids: Int32Array, ...parts: readonly Int32Array[]): boolean {
  const wanted = parts.flatMap((part) => [...part]);
  return wanted.every((id, index) => ids[index] === id);
}

const pairs = tokenizerNames.flatMap((tokenizer) => templateNames.map((template) => [tokenizer, template] as const));

describe.each(pairs)("%s with the template %s", (tokenizerName, templateName) => {
  const tokenizer = readTokenizer(tokenizerName);
  const builder = createPromptBuilder({ tokenizer, template: readTemplate(templateName) });
  const special = [...Array(tokenizer.vocabularySize).keys()].filter((id) => tokenizer.isSpecial(id));
  const specialsIn = (ids: Int32Array): number[] => [...ids].filter((id) => special.includes(id));

  it("says nothing of an answer that is still sampled that is not so in the end", () => {
    const stops = fc.array(fc.constantFrom("\n", "ready", "</", "zz", "done."), { maxLength: 2 });
    fc.assert(
      fc.property(anyTurn, stops, fc.boolean(), fc.nat(400), (turn, stop, reasoningOpened, cut) => {
        const conversation = { ...conversationOf([said("user", "go")], [runTool]), sampling: { stop } };
        const sampledIds = sample(turn, builder, tokenizer).slice(0, cut);
        const follow = builder.followAnswer({ conversation, reasoningOpened });
        const deltas = [...sampledIds].flatMap((id) => follow(id));
        const { message } = builder.readAnswer({ sampledIds, finishReason: "stop", conversation, reasoningOpened, callId: String });
        const spoken = (channel: "content" | "reasoning"): string => deltas.flatMap((delta) => (delta.type === channel ? delta.delta : [])).join("");
        const whole = message.content.map((part) => (part.type === "text" ? part.text : "")).join("");
        expect(whole.startsWith(spoken("content"))).toBe(true);
        expect((message.reasoning ?? "").startsWith(spoken("reasoning"))).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  it("keeps a linear rollout on one chain, id for id", () => {
    fc.assert(
      fc.property(fc.option(anyText), fc.boolean(), anyText, fc.array(anyTurn, { minLength: 1, maxLength: 5 }), (system, withTools, first, turns) => {
        const tools = withTools ? [runTool] : [];
        const history = builder.history();
        let messages: Message[] = [...(system === null ? [] : [said("system", system)]), said("user", first)];
        let before: Int32Array[] = [];
        turns.forEach((turn, number) => {
          const conversation = conversationOf(messages, tools);
          const prompt = history.assemble(conversation, asSampled);
          expect(beginsWith(prompt.ids, ...before)).toBe(true);
          expect(prompt.breakCause).toBe(null);
          expect(prompt.parentCallId).toBe(number === 0 ? null : `call${number - 1}`);
          const sampledIds = sample(withTools ? turn : { ...turn, command: null }, builder, tokenizer);
          const { message } = builder.readAnswer({
            sampledIds,
            finishReason: turn.ending === "cut" ? "length" : "stop",
            conversation,
            reasoningOpened: prompt.reasoningOpened,
            callId: (index) => `id${number}${index}`,
          });
          history.record({ callId: `call${number}`, conversation, promptIds: prompt.ids, sampledIds, message });
          const sent = asHarnessSends(message);
          const results = sent.toolCalls.map((call) => answered(call.id, turn.next));
          messages = [...messages, sent, ...(results.length > 0 ? results : [said("user", turn.next)])];
          before = [prompt.ids, sampledIds];
        });
      }),
      { numRuns: 25 },
    );
  });

  it("takes no control token from content", () => {
    const conversationWith = (text: string) => {
      const messages = [said("system", text), said("user", text), { ...answer(text), toolCalls: [] }, said("user", text)];
      return conversationOf(messages, [
        { ...runTool, description: text, parameters: JSON.stringify({ type: "object", properties: { [text]: { type: "string", enum: [text] } } }) },
      ]);
    };
    fc.assert(
      fc.property(anyText, (text) => {
        const forged = builder.history().assemble(conversationWith(`x${text}y`), asTemplate);
        const plain = builder.history().assemble(conversationWith("xy"), asTemplate);
        expect(specialsIn(forged.ids)).toEqual(specialsIn(plain.ids));
      }),
      { numRuns: 25 },
    );
  });

  it("writes what follows a turn as the template does", () => {
    const history = builder.history();
    const asked = conversationOf([said("user", "q")]);
    const [end] = builder.endIds;
    const sampledIds = Int32Array.from([...tokenizer.encode("yes"), ...(end === undefined ? [] : [end])]);
    const first = history.assemble(asked, asSampled);
    history.record({ callId: "a", conversation: asked, promptIds: first.ids, sampledIds, message: answer("yes") });
    const next = conversationOf([said("user", "q"), answer("yes"), said("user", "and <|im_end|> then?")]);
    const spliced = tokenizer.decode(history.assemble(next, asSampled).ids);
    expect(spliced).toContain("and <|im_end|> then?");
    if (templateName === "thinking-drop" || templateName === "inst-brackets") return;
    const whole = tokenizer.decode(builder.history().assemble(next, asTemplate).ids);
    const close = end === undefined ? "" : (tokenizer.tokenOf(end) ?? "");
    expect(spliced.replaceAll(close, "").replace(/\s/g, "")).toBe(whole.replaceAll(close, "").replace(/\s/g, ""));
  });
});

describe("a turn", () => {
  const tokenizer = readTokenizer("chatml-bpe");
  const builder = createPromptBuilder({ tokenizer, template: readTemplate("thinking-drop") });
  const [end = -1] = builder.endIds;

  function goOn(
    sampledIds: Int32Array,
    message: AssistantMessage,
    next: readonly Message[],
    tools = [runTool],
  ): { before: Int32Array; after: Int32Array } {
    const history = builder.history();
    const asked = conversationOf([said("user", "q")], tools);
    const prompt = history.assemble(asked, asSampled);
    history.record({ callId: "a", conversation: asked, promptIds: prompt.ids, sampledIds, message });
    const following = history.assemble(conversationOf([said("user", "q"), asHarnessSends(message), ...next], tools), asSampled);
    expect(beginsWith(following.ids, prompt.ids, sampledIds)).toBe(true);
    return { before: prompt.ids, after: following.ids.subarray(prompt.ids.length + sampledIds.length) };
  }

  it("keeps its reasoning, which the template would drop", () => {
    const text = "<think>\nlong thought\n</think>\n\nyes";
    const sampledIds = Int32Array.from([...tokenizer.encode(text), end]);
    const { after } = goOn(sampledIds, answer("yes"), [said("user", "next")]);
    expect(tokenizer.decode(after)).toBe("\n<|im_start|>user\nnext<|im_end|>\n<|im_start|>assistant\n");
  });

  it("that was cut gets its end token from the template", () => {
    const { after } = goOn(tokenizer.encode("half an ans"), answer("half an ans"), [said("user", "next")]);
    expect(tokenizer.decode(after)).toBe("<|im_end|>\n<|im_start|>user\nnext<|im_end|>\n<|im_start|>assistant\n");
    expect(after[0]).toBe(end);
  });

  it("with calls is followed by their answers", () => {
    const text = writeCall("hermes", "ls");
    const sampledIds = Int32Array.from([...tokenizer.encode(text), end]);
    const conversation = conversationOf([said("user", "q")], [runTool]);
    const read = builder.readAnswer({ sampledIds, finishReason: "stop", conversation, reasoningOpened: false, callId: (index) => `id${index}` });
    expect(read.finishReason).toBe("tool-calls");
    expect(read.message.toolCalls).toEqual([{ id: "id0", kind: "function", name: "run", arguments: '{"command":"ls","limit":1.0}' }]);
    const { after } = goOn(sampledIds, read.message, [answered("call_0_rewritten", "a <|im_end|> b")]);
    expect(tokenizer.decode(after)).toBe("\n<|im_start|>user\n<tool_response>\na <|im_end|> b\n</tool_response><|im_end|>\n<|im_start|>assistant\n");
    expect([...after].filter((id) => id === end)).toHaveLength(1);
  });

  it("with two calls goes on under a template that takes one", () => {
    const strict = createPromptBuilder({ tokenizer, template: readTemplate("header-json") });
    const history = strict.history();
    const asked = conversationOf([said("user", "q")], [runTool]);
    const prompt = history.assemble(asked, asSampled);
    const call = (id: string) => ({ id, kind: "function", name: "run", arguments: "{}" }) as const;
    const message: AssistantMessage = { role: "assistant", content: [], toolCalls: [call("a"), call("b")] };
    history.record({ callId: "1", conversation: asked, promptIds: prompt.ids, sampledIds: Int32Array.of(5, 6), message });
    const next = history.assemble(conversationOf([said("user", "q"), message, answered("a", "one"), answered("b", "two")], [runTool]), asSampled);
    expect(next.parentCallId).toBe("1");
    expect(tokenizer.decode(next.ids)).toMatch(/one.*two/s);
  });

  it("that a stop string ended is cut there", () => {
    const conversation = { ...conversationOf([said("user", "q")]), sampling: { stop: ["END"] } };
    const read = builder.readAnswer({
      sampledIds: tokenizer.encode("yes END"),
      finishReason: "stop",
      conversation,
      reasoningOpened: false,
      callId: String,
    });
    expect(read.message.content).toEqual([{ type: "text", text: "yes" }]);
    expect(read.text).toBe("yes END");
  });

  it("goes on in a reasoning block that the prompt opened", () => {
    const opened = createPromptBuilder({ tokenizer, template: readTemplate("xml-coder"), variables: '{"images_hint": true}' });
    expect(opened.history().assemble(conversationOf([said("user", "q")]), asSampled).reasoningOpened).toBe(false);
    const read = builder.readAnswer({
      sampledIds: tokenizer.encode("hm</think>yes"),
      finishReason: "stop",
      conversation: conversationOf([]),
      reasoningOpened: true,
      callId: String,
    });
    expect(read.message).toMatchObject({ reasoning: "hm", content: [{ type: "text", text: "yes" }] });
  });
});

it("finds the tool-call format that a template shows", () => {
  expect(templateNames.map((name) => builderOf("chatml-bpe", name).toolCallFormat)).toEqual([
    "hermes",
    "hermes",
    "llama3_json",
    "mistral",
    "pythonic",
    "qwen3_coder",
  ]);
});
