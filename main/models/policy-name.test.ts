import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { absolutePolicy } from "./policy-name.ts";

test.each([
  ["scripted:rules.yaml", "scripted:/home/ada/rules.yaml"],
  ["scripted:/rules.yaml", "scripted:/rules.yaml"],
  ["embedded:./model?lanes=4", "embedded:/home/ada/model?lanes=4"],
  ["embedded:a/b", "embedded:/home/ada/a/b"],
  ["embedded:SmolLM2-135M-Instruct", "embedded:SmolLM2-135M-Instruct"],
  ["embedded:SmolLM2-135M-Instruct?maxTokens=256", "embedded:SmolLM2-135M-Instruct?maxTokens=256"],
  ["scripted", "scripted"],
  ["training:t-1@3", "training:t-1@3"],
  ["http://127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1"],
])("%s is %s", (given, meant) => {
  expect(absolutePolicy(given, "/home/ada")).toBe(meant);
});

test("a bare word is a folder where a model of that name lies", () => {
  const folder = mkdtempSync(join(tmpdir(), "policy-name-"));
  mkdirSync(join(folder, "mine"));
  expect(absolutePolicy("embedded:mine?lanes=2", folder)).toBe("embedded:mine?lanes=2");
  writeFileSync(join(folder, "mine", "config.json"), "{}");
  expect(absolutePolicy("embedded:mine?lanes=2", folder)).toBe(`embedded:${join(folder, "mine")}?lanes=2`);
  rmSync(folder, { recursive: true });
});
