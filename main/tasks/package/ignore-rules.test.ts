/** Expected answers are those of Python's pathspec 1.1.1, which Harbor uses; where the two flavours differ both are given. */
import { expect, test } from "vitest";
import { parseIgnoreRules } from "./ignore-rules.ts";

const decide = (lines: string, path: string) => (["git", "basic"] as const).map((flavour) => parseIgnoreRules(lines, flavour).decide(path));

test.each<[lines: string, path: string, git: boolean | null, basic: boolean | null]>([
  ["*.log", "a/b.log", true, true],
  ["*.log", "a/b.log/c", true, true],
  ["/sub", "x/sub", null, null],
  ["sub/", "sub", null, null],
  ["sub/", "x/sub/a", true, true],
  ["a/*", "a/b", true, true],
  ["a/*", "a/b/c", true, null],
  ["a/**", "a/b/c", true, true],
  ["a/**/b", "a/b", true, true],
  ["**/", "a", null, null],
  ["**/", "a/b", true, true],
  ["/", "a/b", null, true],
  ["*\n!keep", "keep", false, false],
  ["sub/\n!sub/a", "sub/a", false, false],
  ["!sub/a\nsub/", "sub/a", false, true],
  ["#a\n\\#a", "#a", true, true],
  ["a\\ ", "a ", true, true],
  ["a  ", "a", true, true],
  ["[ab", "[ab", null, true],
  ["[!a]x", "bx", true, true],
  ["[^a]x", "ax", null, null],
  ["[]a]x", "]x", true, true],
  ["[a-c]?", "b/", null, null],
  ["b?", "bä", true, true],
  ["a\r\nb", "b", true, true],
])("%j on %s", (lines, path, git, basic) => expect(decide(lines, path)).toEqual([git, basic]));

test("a pattern that stops Harbor names its line", () => {
  expect(() => parseIgnoreRules("a\nb\\", "git")).toThrowError(expect.objectContaining({ line: 2 }));
  expect(() => parseIgnoreRules("[b-a]", "basic")).toThrowError(expect.objectContaining({ line: 1 }));
});
