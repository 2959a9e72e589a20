import { describe, expect, test } from "vitest";
import { brokenGraderSign } from "./broken-grader.ts";

const sign = (stderr: string, exitCode = 0) => brokenGraderSign({ exitCode, stderr, stdout: "" });

describe("the check itself broke", () => {
  test.each([
    ["/tests/test.sh: line 3: uvx: command not found", "its tool uvx is not there"],
    ["/tests/test.sh: 3: curl: not found", "its tool curl is not there"],
    ["/tests/lib/run.sh: line 12: /usr/bin/python3: No such file or directory", "its tool /usr/bin/python3 is not there"],
    ["/tests/test.sh: 9: /tests/bin/judge: not found", "its tool /tests/bin/judge is not there"],
    ["/usr/bin/env: ‘python3’: No such file or directory", "its tool python3 is not there"],
    ["curl: (6) Could not resolve host: astral.sh", "it could not fetch what it needs (curl: (6) Could not resolve host: astral.sh)"],
    ["E: Unable to locate package jq", "it could not fetch what it needs (E: Unable to locate package jq)"],
    ["gzip: stdin: unexpected end of file\ntar: Child returned status 1", "it could not fetch what it needs (tar: Child returned status 1)"],
    ["/usr/bin/python3: No module named pytest", "it could not fetch what it needs (/usr/bin/python3: No module named pytest)"],
  ])("%s", (stderr, expected) => {
    expect(sign(stderr)).toBe(expected);
    expect(brokenGraderSign({ exitCode: 1, stderr: "", stdout: `checking\n${stderr}\n` })).toBe(expected);
  });
  test("a test script that cannot be started", () => expect(sign("", 126)).toBe("its test script cannot be started"));
});

describe("the work was wrong", () => {
  test.each([
    "/tests/test.sh: line 3: greet: command not found",
    "/tests/test.sh: 4: /app/run.sh: not found",
    "cat: /app/answer.txt: No such file or directory",
    "bash: line 1: curl: command not found",
    "AssertionError: expected 42",
    "ModuleNotFoundError: No module named 'solution'",
    "expected: curl is installed",
    "",
  ])("%s", (stderr) => expect(sign(stderr, 1)).toBeNull());
});
