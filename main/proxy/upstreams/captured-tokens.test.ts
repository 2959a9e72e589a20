import { expect, it } from "vitest";
import { checkedTokens } from "./captured-tokens.ts";

it("takes whole ids with as many log-probs, and nothing else", () => {
  expect(checkedTokens([1, 2], [3], [-0.5])).toEqual({
    promptIds: Int32Array.of(1, 2),
    sampledIds: Int32Array.of(3),
    logprobs: Float32Array.of(-0.5),
  });
  expect(checkedTokens([1], [3, 4], [-0.5])).toBe("the server gave 2 ids and 1 log-probs");
  for (const id of [1.5, -1, 2 ** 31, Number.NaN, Number.POSITIVE_INFINITY]) {
    expect(checkedTokens([1], [id], null)).toBe(`the server gave ${id} as a token id`);
    expect(checkedTokens([id], [1], null)).toBe(`the server gave ${id} as a token id`);
  }
});
