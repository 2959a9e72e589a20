import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { keepOnly, matchesPattern } from "./keep.ts";
import { harnessRegistry } from "./registry.ts";

const shippedFolder = join(import.meta.dirname, "../../resources/harnesses");
const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});
function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), "harnesses-"));
  folders.push(folder);
  return folder;
}
function manifest(folder: string, id: string, text: string): void {
  mkdirSync(join(folder, id), { recursive: true });
  writeFileSync(join(folder, id, "manifest.yaml"), text);
}
const text = (id: string, install: string): string =>
  `id: ${id}\nname: Mine\nversion: 1.0.0\nlicence: MIT\nsummary: s\ninstall: ${install}\nruntime: { kind: node }\ndialects: [chat]\ncommand: [node]\nprefix: exact\n`;

const shipped = readdirSync(shippedFolder);

test("lists what ships and what a person wrote; a faulty manifest is listed with its fault", async () => {
  const userFolder = temporary();
  manifest(userFolder, "mine", text("mine", "{ kind: bundled, path: . }"));
  manifest(userFolder, "broken", "id: 3\n");
  manifest(userFolder, "moved", text("mine", "{ kind: bundled, path: . }"));
  mkdirSync(join(userFolder, "empty"));
  const registry = harnessRegistry({ shippedFolder, userFolder, cacheFolder: temporary() });
  const listed = await registry.list();
  expect(listed.map(({ id }) => id)).toEqual([...shipped, "broken", "empty", "mine", "moved"].sort());
  expect(listed.filter(({ id }) => id === "codex" || id === "react").map(({ installed }) => installed)).toEqual([false, true]);
  const written = listed.filter(({ id }) => !shipped.includes(id));
  expect(written.map(({ installed }) => installed)).toEqual([false, false, true, false]);
  expect(written[0]?.fault).toContain("broken/manifest.yaml:1: `id` must be a text.");
  expect(written[1]?.fault).toMatch(/has no manifest.yaml\.$/);
  expect(written[3]?.fault).toContain("the id is mine and the folder is called moved");
  await expect(registry.get("nobody")).rejects.toThrow("There is no harness called nobody.");
  await expect(registry.get("broken")).rejects.toMatchObject({ exitCode: 2 });
});

test("what cannot be read never hides the others, and a link to a harness counts", async () => {
  const userFolder = temporary();
  const elsewhere = temporary();
  manifest(elsewhere, "linked", text("linked", "{ kind: bundled, path: . }"));
  symlinkSync(join(elsewhere, "linked"), join(userFolder, "linked"));
  symlinkSync(join(elsewhere, "gone"), join(userFolder, "gone"));
  mkdirSync(join(userFolder, "folder", "manifest.yaml"), { recursive: true });
  const listed = await harnessRegistry({ shippedFolder, userFolder, cacheFolder: temporary() }).list();
  expect(listed.filter(({ manifest }) => manifest !== null).map(({ id }) => id)).toEqual([...shipped, "linked"].sort());
  const faulty = listed.filter(({ manifest }) => manifest === null);
  expect(faulty.map(({ id }) => id)).toEqual(["folder", "gone"]);
  expect(faulty[0]?.fault).toMatch(/folder\/manifest\.yaml cannot be read \(EISDIR\)\.$/);
  const file = join(elsewhere, "linked", "manifest.yaml");
  await expect(harnessRegistry({ shippedFolder, userFolder: file, cacheFolder: temporary() }).list()).rejects.toThrow(
    /cannot be read \(ENOTDIR\)\.$/,
  );
});

test("a bundled harness is used where it lies, and its key follows its content", async () => {
  const userFolder = temporary();
  cpSync(join(shippedFolder, "react"), join(userFolder, "react"), { recursive: true });
  const registry = harnessRegistry({ shippedFolder, userFolder, cacheFolder: temporary() });
  const first = await registry.install("react");
  expect(first.hostFolder).toBe(join(userFolder, "react"));
  writeFileSync(join(userFolder, "react", "react.mjs"), "// changed\n");
  expect((await registry.install("react")).version).not.toBe(first.version);
});

test("a failed install leaves nothing behind and says what to do", { timeout: 60_000 }, async () => {
  const userFolder = temporary();
  const cacheFolder = temporary();
  manifest(userFolder, "mine", text("mine", "{ kind: npm, package: some-agent@1.0.0 }"));
  const registry = harnessRegistry({ shippedFolder, userFolder, cacheFolder });
  const before = process.env.npm_config_registry;
  process.env.npm_config_registry = "http://127.0.0.1:9/";
  try {
    const both = await Promise.allSettled([registry.install("mine"), registry.install("mine")]);
    for (const result of both) {
      expect(result.status === "rejected" && result.reason).toMatchObject({
        exitCode: 3,
        message: "Harness mine could not be installed: the package registry cannot be reached.",
      });
    }
  } finally {
    if (before === undefined) delete process.env.npm_config_registry;
    else process.env.npm_config_registry = before;
  }
  expect(readdirSync(cacheFolder)).toEqual([]);
});

test("patterns of what is kept", async () => {
  expect(matchesPattern("a/vendor/x86/bin/codex", "a/vendor/*/bin/codex")).toBe(true);
  expect(matchesPattern("a/vendor/x86/lib/bin/codex", "a/vendor/*/bin/codex")).toBe(false);
  expect(matchesPattern("a/b/c.js", "**/*.js")).toBe(true);
  expect(matchesPattern("c.js", "**/*.js")).toBe(true);
  expect(matchesPattern("a.js.map", "*.js")).toBe(false);
  const folder = temporary();
  for (const path of ["a/keep.js", "a/b/drop.ts", "c/drop.md"]) {
    mkdirSync(join(folder, path, ".."), { recursive: true });
    writeFileSync(join(folder, path), "");
  }
  await keepOnly(folder, ["**/*.js"]);
  expect(existsSync(join(folder, "a/keep.js"))).toBe(true);
  expect(readdirSync(folder)).toEqual(["a"]);
  expect(readdirSync(join(folder, "a"))).toEqual(["keep.js"]);
});
