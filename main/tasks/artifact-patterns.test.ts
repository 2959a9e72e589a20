import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { leavesOut } from "./artifact-patterns.ts";

const files = ["a.txt", "b.log", "deep/a.txt", "deep/er/c.log", "node_modules/x/y.js", "x[1].txt", "häuser.txt", "logs/run+1.txt"];
let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "openforge-patterns-"));
  for (const file of files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), "");
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each([
  "*.log",
  "deep",
  "deep/*",
  "./a.txt",
  "a.txt",
  "er/c.log",
  "node_modules",
  "[ab].*",
  "[!a].txt",
  "x\\[1\\].txt",
  "h?user.txt",
  "*+1*",
  "d*g",
])("%s leaves out what tar leaves out", (pattern) => {
  const packed = execFileSync("tar", ["cf", "-", `--exclude=${pattern}`, "-C", folder, "."]);
  const kept = execFileSync("tar", ["tf", "-", "--quoting-style=literal"], { input: packed, encoding: "utf8" }).split("\n");
  const expected = files.filter((file) => kept.includes(`./${file}`));
  expect(files.filter((file) => !leavesOut([pattern], file))).toEqual(expected);
});
