import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { PackageMemory } from "./package-memory.ts";

let root: string;
let computed = 0;
const memory = new PackageMemory<number>();
const ask = (): Promise<number> =>
  memory.of(root, async () => {
    computed += 1;
    return computed;
  });
const settle = (): Promise<void> => delay(130);

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), "of-memory-"));
  mkdirSync(join(root, "tests"));
  writeFileSync(join(root, "tests/test.sh"), "one");
  await settle();
});
afterEach(() => rmSync(root, { recursive: true }));

it("answers from memory while nothing changes", async () => {
  const first = await ask();
  expect(await ask()).toBe(first);
});

const changes: Readonly<Record<string, () => void>> = {
  "a file of the same length": () => writeFileSync(join(root, "tests/test.sh"), "two"),
  "a file whose times were set back": () => {
    writeFileSync(join(root, "tests/test.sh"), "two");
    utimesSync(join(root, "tests/test.sh"), 1, 1);
  },
  "a file that another took the place of": () => {
    writeFileSync(join(root, "beside"), "two");
    renameSync(join(root, "beside"), join(root, "tests/test.sh"));
  },
  "a new file": () => writeFileSync(join(root, "tests/more"), ""),
  "a removed file": () => rmSync(join(root, "tests/test.sh")),
  "rights alone": () => chmodSync(join(root, "tests/test.sh"), 0o755),
  "a link": () => symlinkSync("/etc/hostname", join(root, "tests/link")),
};
for (const [name, change] of Object.entries(changes)) {
  it(`sees ${name}`, async () => {
    const first = await ask();
    change();
    expect(await ask()).not.toBe(first);
  });
}

it("keeps nothing that was written a moment ago, nor what links elsewhere", async () => {
  writeFileSync(join(root, "tests/test.sh"), "two");
  expect(await ask()).not.toBe(await ask());
  symlinkSync("/etc/hostname", join(root, "tests/link"));
  await settle();
  expect(await ask()).not.toBe(await ask());
});
