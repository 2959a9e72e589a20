import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { packagesIn } from "./packages-in.ts";

test("a path means the package that it is, or the packages in it and nothing else", async () => {
  const root = mkdtempSync(join(tmpdir(), "packages-in-"));
  const files = ["tasks/b/task.toml", "tasks/a/task.toml", "tasks/faulty/instruction.md", "tasks/.git/HEAD", "tasks/notes.md", "empty/notes.md"];
  for (const file of files) {
    mkdirSync(join(root, file, ".."), { recursive: true });
    writeFileSync(join(root, file), "");
  }
  const of = async (path: string): Promise<unknown> => (await packagesIn(join(root, path)))?.map((found) => found.slice(root.length + 1)) ?? null;
  expect(await of("tasks")).toEqual(["tasks/a", "tasks/b", "tasks/faulty"]);
  expect(await of("tasks/a")).toEqual(["tasks/a"]);
  expect(await of("tasks/faulty")).toEqual(["tasks/faulty"]);
  expect(await of("empty")).toEqual([]);
  expect(await of("nowhere")).toBeNull();
  rmSync(root, { recursive: true });
});
