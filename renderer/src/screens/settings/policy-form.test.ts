import { describe, expect, it } from "vitest";
import { blankForm, formOf, mistakesOf, policyInput } from "./policy-form.ts";

const form = { ...blankForm, id: "teacher", url: "https://teacher.example/v1" };

describe("the form of a policy", () => {
  it("says what is wrong with an example, and nothing of what may be left out", () => {
    expect(mistakesOf(form)).toEqual({});
    expect(mistakesOf({ ...form, url: "localhost", keyVariable: "sk-1" })).toEqual({
      url: expect.stringContaining("http://"),
      keyVariable: expect.stringContaining("OPENAI_API_KEY"),
    });
    expect(mistakesOf({ ...form, spendingLimit: "20" })).toHaveProperty("spendingLimit");
    expect(mistakesOf({ ...form, priceInput: "3" })).toHaveProperty("priceOutput");
    expect(mistakesOf({ ...form, priceInput: "3", priceOutput: "lots" })).toHaveProperty("priceOutput");
  });

  it("sends what is given, and of that what its kind takes", () => {
    expect(policyInput({ ...form, kind: "ollama", tokenizer: "/t", contextWindow: "32768" }, false)).toEqual({
      ...{ id: "teacher", url: form.url },
      ...{ kind: "ollama", contextWindow: 32_768 },
    });
    expect(policyInput({ ...form, kind: "anthropic-compatible", priceInput: "3", priceOutput: "15", spendingLimit: "20" }, true)).toEqual({
      ...{ id: "teacher", url: form.url, kind: "anthropic-compatible" },
      ...{ prices: { input: 3, output: 15 }, spendingLimit: 20, replace: true },
    });
  });

  it("comes back from a saved policy as it was given", () => {
    const settings = { model: "m", keyVariable: "K", tokenizer: null, contextWindow: null, prices: { input: 3, output: 15 }, spendingLimit: 20 };
    const saved = {
      ...{ id: "teacher", kind: "anthropic-compatible", address: form.url, capture: null },
      ...{ takesTokenIds: false, builtIn: false },
    };
    const opened = formOf({ ...saved, kind: "anthropic-compatible", settings, spending: null });
    expect(policyInput(opened, true)).toMatchObject({ model: "m", keyVariable: "K", prices: { input: 3, output: 15 }, spendingLimit: 20 });
  });
});
