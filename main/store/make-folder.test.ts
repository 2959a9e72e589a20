import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makeFolder } from "./make-folder.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "make-folder-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("every missing folder is made, for this user only; one that is there is left alone", () => {
  mkdirSync(join(folder, "old"), { mode: 0o755 });
  makeFolder(join(folder, "old", "a b", "c"));
  expect(statSync(join(folder, "old", "a b")).mode & 0o777).toBe(0o700);
  expect(statSync(join(folder, "old")).mode & 0o777).toBe(0o755);
  makeFolder(join(folder, "old", "a b", "c"));
});

test("a file in the way is named", () => {
  const file = join(folder, "file");
  writeFileSync(file, "");
  expect(() => makeFolder(file)).toThrow(`The data folder ${file} cannot be made: ${file} is a file.`);
  expect(() => makeFolder(join(file, "sub"))).toThrow(`The data folder ${file}/sub cannot be made: `);
});

test.runIf(existsSync("/proc/self"))("a file system that takes no folders ends in a sentence, not in a loop", () => {
  expect(() => makeFolder("/proc/openforge/data")).toThrow("The data folder /proc/openforge/data cannot be made: no folders can be made there.");
});
