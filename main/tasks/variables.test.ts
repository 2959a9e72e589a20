import { describe, expect, test } from "vitest";
import { resolveHeaders, resolveVariables } from "./variables.ts";

const plain = (text: string) => text.replaceAll("§", "$");
const env = { NAME: plain("va§{X}l"), EMPTY: "", HASH: plain("§2b§12§Pg8A.R2") };

describe("env tables", () => {
  test.each([
    ["§{NAME}", "va§{X}l"],
    ["§{EMPTY}", ""],
    ["§{EMPTY:-default}", ""],
    ["§{NONE:-a b}", "a b"],
    ["§{NONE:-}", ""],
    ["§{NONE:-§{NAME}}", "§{NAME}"],
    ["§2b§12§Pg8A.R2", "§2b§12§Pg8A.R2"],
    ["§NAME", "§NAME"],
    ["§§{NAME}", "§§{NAME}"],
    ["a§{NAME}", "a§{NAME}"],
    ["§{NAME}b", "§{NAME}b"],
    ["§(NAME) `NAME` %NAME%", "§(NAME) `NAME` %NAME%"],
    ["", ""],
  ])("%s → %s", (value, expected) => expect(resolveVariables({ KEY: plain(value) }, env)).toEqual({ KEY: plain(expected) }));

  test("one that is not set and has no default says its name and what to do", () => {
    expect(() => resolveVariables({ KEY: plain("§{NONE}") }, env)).toThrowError(
      expect.objectContaining({
        message: "The task's value KEY needs the environment variable NONE, which is not set.",
        remedy: plain("Set NONE where the workbench is started, or give it a default in task.toml: §{NONE:-default}."),
        exitCode: 2,
      }),
    );
    expect(() => resolveVariables({ KEY: plain("§{toString}") }, {})).toThrowError();
  });
});

test("headers are filled in anywhere, once", () => {
  expect(resolveHeaders({ A: plain("Bearer §{HASH}"), B: plain("§{NONE:-x}-§{NAME}"), C: "§5" }, env)).toEqual({
    A: plain("Bearer §2b§12§Pg8A.R2"),
    B: plain("x-va§{X}l"),
    C: "§5",
  });
});
