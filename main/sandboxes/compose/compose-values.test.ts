import fc from "fast-check";
import { expect, it } from "vitest";
import { bytesOf, millisecondsOf, shellWords } from "./compose-values.ts";

it("reads sizes and times", () => {
  expect(["512m", "1gb", "64MiB", "1.5k", "100", "many", "1x", ""].map(bytesOf)).toEqual([
    512 * 1024 ** 2,
    1024 ** 3,
    64 * 1024 ** 2,
    1536,
    100,
    null,
    null,
    null,
  ]);
  expect(["1m30s", "500ms", "0", "2h", "5", "1d", "s"].map(millisecondsOf)).toEqual([90_000, 500, 0, 7_200_000, null, null, null]);
});

it("cuts command lines as a shell does", () => {
  expect(shellWords(`sh -c "echo \\"$HOME\\" 'x'" a\\ b ''`)).toEqual(["sh", "-c", `echo "$HOME" 'x'`, "a b", ""]);
  expect(shellWords("echo 'open")).toBeNull();
  const quoted = (text: string): string => `'${text.replaceAll("'", `'"'"'`)}'`;
  fc.assert(
    fc.property(fc.array(fc.string()), (words) => {
      expect(shellWords(words.map(quoted).join("  "))).toEqual(words);
    }),
  );
});
