import { expect, it } from "vitest";
import { captureWords } from "./policies.ts";

it("says what policies give with an answer: what was probed, what is known without, and where they differ", () => {
  const policies = [
    { id: "qwen", capture: "ids+logprobs" },
    { id: "gateway", capture: "text-only" },
    { id: "new", capture: null },
  ] as const;
  const words = (...names: string[]): string => captureWords(names, policies);
  expect(words("gateway")).toBe("text-only");
  expect([words("training:t-1@4"), words("embedded:/models/a"), words("qwen", "scripted:x.yaml")]).toEqual(Array(3).fill("ids+logprobs"));
  expect([words("new"), words("http://127.0.0.1:9/v1"), words()]).toEqual(Array(3).fill("capture not probed"));
  expect(words("qwen", "gateway")).toBe("captures differ");
});
