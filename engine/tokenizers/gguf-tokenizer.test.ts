import { describe, expect, test } from "vitest";
import type { GgufValue } from "../weights/index.ts";
import { loadTokenizer, tokenizerFromGguf } from "./index.ts";

function load(metadata: Readonly<Record<string, GgufValue>>) {
  const { tokenizerJson, configJson } = tokenizerFromGguf(new Map(Object.entries(metadata)));
  return loadTokenizer(tokenizerJson, configJson);
}

const pieces = ["<unk>", "<s>", "<|user|>", "▁", "a", "b", "aa", "aaa", "▁a", "▁▁"];
const spm: Readonly<Record<string, GgufValue>> = {
  "tokenizer.ggml.model": "llama",
  "tokenizer.ggml.tokens": pieces,
  "tokenizer.ggml.scores": pieces.map((_piece, index) => -index),
  "tokenizer.ggml.token_type": [2, 3, 4, 1, 1, 1, 1, 1, 1, 1],
  "tokenizer.ggml.bos_token_id": 1,
  "tokenizer.ggml.unknown_token_id": 0,
};

describe("sentencepiece vocabularies", () => {
  test("one space is put before the whole text, also before a user token, and none is taken away", () => {
    const tokenizer = load(spm);
    expect([...tokenizer.encode("a")]).toEqual([8]);
    expect([...tokenizer.encode(" b")]).toEqual([9, 5]);
    expect([...tokenizer.encode("<|user|>a<|user|>")]).toEqual([3, 2, 4, 2]);
    expect([...tokenizer.encode("")]).toEqual([]);
    expect(tokenizer.decode([9, 5])).toBe(" b");
  });

  test("neighbours are joined by the score of what they make, the leftmost first", () => {
    expect([...load({ ...spm, "tokenizer.ggml.add_space_prefix": false }).encode("aaaaa")]).toEqual([6, 7]);
  });

  test("control tokens are cut out and begin no new text", () => {
    expect([...load(spm).encode("<s>a")]).toEqual([1, 4]);
    expect([...load(spm).encode("a", { specialTokens: true })]).toEqual([1, 8]);
  });
});

const bytes = ["Ġ", "1", "2", "x", "12", "Ġx", "<|end|>"];
const bpe: Readonly<Record<string, GgufValue>> = {
  "tokenizer.ggml.model": "gpt2",
  "tokenizer.ggml.pre": "smollm",
  "tokenizer.ggml.tokens": bytes,
  "tokenizer.ggml.token_type": [1, 1, 1, 1, 1, 1, 3],
  "tokenizer.ggml.merges": ["1 2", "Ġ x"],
  "tokenizer.ggml.eos_token_id": 6,
  "tokenizer.chat_template": "{{ messages }}",
};

describe("byte-level BPE", () => {
  test("the pre-tokenizer's name decides how texts are cut", () => {
    expect([...load(bpe).encode("12 x<|end|>")]).toEqual([1, 2, 5, 6]);
    expect([...load({ ...bpe, "tokenizer.ggml.pre": "gpt-2" }).encode("12 x")]).toEqual([4, 5]);
  });

  test("special tokens and the chat template are there", () => {
    const tokenizer = load(bpe);
    expect(tokenizer.special.eos).toBe(6);
    expect(tokenizer.isSpecial(6)).toBe(true);
    expect(tokenizerFromGguf(new Map(Object.entries(bpe))).chatTemplate).toBe("{{ messages }}");
  });

  test.each([
    [{ ...bpe, "tokenizer.ggml.pre": "viking" }, "viking"],
    [{ ...bpe, "tokenizer.ggml.model": "t5" }, "t5"],
    [{ ...bpe, "tokenizer.ggml.tokens": "a" }, "no list tokenizer.ggml.tokens"],
    [{ ...bpe, "tokenizer.ggml.token_type": [1] }, "another length"],
  ])("what cannot be done exactly is refused by name", (metadata, named) => {
    expect(() => load(metadata)).toThrow(named);
  });
});
