import { expect, test } from "vitest";
import { WorkbenchError } from "../errors.ts";
import { asFailure, counted, number, shellWord, table } from "./output.ts";

test("a table aligns numbers right and words left", () => {
  expect(
    table(
      ["task", "reward"],
      [
        ["count-lines", "1.00"],
        ["x", "–"],
      ],
    ),
  ).toBe(["task         reward", "───────────  ──────", "count-lines    1.00", "x                 –"].join("\n"));
});

test("a missing number is a dash, never 0", () => {
  expect(number(null)).toBe("–");
  expect(number(0)).toBe("0.00");
});

test("expected failures keep their exit code; bugs are named as such", () => {
  expect(asFailure(new WorkbenchError("unavailable", "No Docker.", "Start it."))).toMatchObject({ exitCode: 3, message: "No Docker." });
  expect(asFailure(new TypeError("x is not a function"))).toMatchObject({ code: "internal", exitCode: 1 });
});

test("a path in a suggested command can be typed as it stands", () => {
  expect(["my-tasks/first", "my täsks/first", "it's"].map(shellWord)).toEqual(["my-tasks/first", "'my täsks/first'", "'it'\\''s'"]);
});

test("one of a thing is not many", () => {
  expect([0, 1, 2].map((count) => counted(count, "call"))).toEqual(["0 calls", "1 call", "2 calls"]);
});
