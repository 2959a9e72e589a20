import { expect, test } from "vitest";
import { learnTokenizer, loadTokenizer } from "./index.ts";

const options = {
  texts: ["<|start|>say hello world<|end|>", "<|start|>say hello there<|end|>", "say rare"],
  pattern: "exact phrase| ?[a-z]+|[^a-z]",
  specialTokens: ["<|start|>", "<|end|>", "<|end|>\n<|start|>", "<|pad|>"],
  ...{ leastCount: 2, endOfTurn: "<|end|>", padding: "<|pad|>" },
};

test("frequent pieces are one token each, the rest bytes; any text comes back", () => {
  const { tokenizerJson, configJson } = learnTokenizer(options);
  const tokenizer = loadTokenizer(tokenizerJson, configJson);
  expect(Array.from(tokenizer.encode("say hello"), (id) => tokenizer.tokenOf(id))).toEqual(["say", "Ġhello"]);
  expect(tokenizer.encode(" rare").length).toBe(5);
  expect(tokenizer.vocabularySize).toBe(256 + 2 + 4);
  for (const text of ["say hello<|end|>\n<|start|>world", "Grüße, 世界 😀\r\n", " rare hello  "])
    expect(tokenizer.decode(tokenizer.encode(text))).toBe(text);
});

test("the longest control token is taken, none inside content", () => {
  const { tokenizerJson, configJson } = learnTokenizer(options);
  const tokenizer = loadTokenizer(tokenizerJson, configJson);
  expect(tokenizer.encode("<|end|>\n<|start|>").length).toBe(1);
  expect(tokenizer.encode("<|end|>", { contentSpans: [{ start: 0, end: 7 }] }).length).toBe(7);
  expect(tokenizer.special).toMatchObject({ eos: tokenizer.idOf("<|end|>"), pad: tokenizer.idOf("<|pad|>") });
});

test("equal texts give equal files", () => expect(learnTokenizer(options)).toEqual(learnTokenizer({ ...options, texts: [...options.texts] })));
