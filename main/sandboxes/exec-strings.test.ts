import { describe, expect, it } from "vitest";
import { checkExecStrings } from "./exec-strings.ts";

describe("strings handed to exec", () => {
  it("pass up to the system's limit, counted in bytes", () => {
    checkExecStrings({ command: ["echo", "x".repeat(131_071)], env: { A: "é".repeat(65_534) } });
    expect(() => checkExecStrings({ command: ["echo", "x".repeat(131_072)] })).toThrow("argument 1 of echo is 131073 bytes");
    expect(() => checkExecStrings({ command: ["echo", "é".repeat(65_536)] })).toThrow("131073 bytes");
    expect(() => checkExecStrings({ command: ["echo"], env: { A: "x".repeat(131_070) } })).toThrow("environment variable A");
    expect(() => checkExecStrings({ command: ["echo", ...Array<string>(20).fill("x".repeat(100_000))] })).toThrow("in all");
  });

  it("are refused when they are no command line at all", () => {
    expect(() => checkExecStrings({ command: [] })).toThrow("empty");
    expect(() => checkExecStrings({ command: ["A=b"] })).toThrow("equals sign");
    expect(() => checkExecStrings({ command: ["echo", "a\0b"] })).toThrow("zero byte");
    expect(() => checkExecStrings({ command: ["echo"], env: { "A=B": "c" } })).toThrow("no name");
  });
});
