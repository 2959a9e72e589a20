import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { keepOnly, matchesPattern } from "./keep.ts";
import { type HarnessRegistry, harnessRegistry } from "./registry.ts";

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

describe("a crate", () => {
  const crate = "{ kind: cargo, package: mine@1.2.3, features: [a, b], defaultFeatures: false, program: mine, profile: { opt-level: 0 } }";

  /** Runs the work with this shell script as the only `cargo`. */
  async function withCargo<T>(script: string, work: (registry: HarnessRegistry, cacheFolder: string) => Promise<T>): Promise<T> {
    const [userFolder, cacheFolder, programs] = [temporary(), temporary(), temporary()];
    manifest(userFolder, "mine", text("mine", crate));
    if (script !== "") writeFileSync(join(programs, "cargo"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    const before = process.env.PATH;
    process.env.PATH = script === "" ? programs : `${programs}:${before}`;
    try {
      return await work(harnessRegistry({ shippedFolder, userFolder, cacheFolder }), cacheFolder);
    } finally {
      process.env.PATH = before;
    }
  }

  test("is built as the manifest says, and only what was built stays", async () => {
    const script = `for word; do [ "$before" = --root ] && root=$word; before=$word; done
      mkdir -p "$root/bin" "$CARGO_TARGET_DIR"; echo "$@ at $CARGO_PROFILE_RELEASE_OPT_LEVEL" > "$root/bin/mine"; echo "   Compiling mine"`;
    await withCargo(script, async (registry) => {
      const lines: string[] = [];
      const { hostFolder } = await registry.install("mine", (line) => lines.push(line));
      const told = readFileSync(join(hostFolder, "bin/mine"), "utf8");
      expect(told).toMatch(/^install --locked .* --features a,b --no-default-features --bin mine mine@1\.2\.3 at 0\n$/);
      expect(readdirSync(hostFolder)).toEqual(["bin"]);
      expect(lines).toContain("   Compiling mine");
    });
  });

  test("can be cancelled: compilers end too, and nothing is left", async () => {
    const script = "sleep 300 & echo $! ; wait";
    await withCargo(script, async (registry, cacheFolder) => {
      const stop = new AbortController();
      let compiler = 0;
      const heard = (line: string): void => {
        if (!/^\d+$/.test(line)) return;
        compiler = Number(line);
        stop.abort();
      };
      await expect(registry.install("mine", heard, stop.signal)).rejects.toMatchObject({ exitCode: 130 });
      // Ended, and perhaps not yet collected by its new parent: such a process has no command line.
      const commandLine = `/proc/${compiler}/cmdline`;
      await expect.poll(() => (existsSync(commandLine) ? readFileSync(commandLine, "utf8") : "")).not.toContain("sleep");
      expect(readdirSync(cacheFolder)).toEqual([]);
    });
  });

  test("is built on for those who still wait when one of them leaves", async () => {
    const script = 'for word; do [ "$before" = --root ] && root=$word; before=$word; done; echo begun; sleep 1; mkdir -p "$root/bin"';
    await withCargo(script, async (registry, cacheFolder) => {
      const stop = new AbortController();
      const leaving = registry.install("mine", (line) => line === "begun" && stop.abort(), stop.signal);
      const heard: string[] = [];
      const staying = registry.install("mine", (line) => heard.push(line));
      await expect(leaving).rejects.toMatchObject({ exitCode: 130 });
      expect(readdirSync((await staying).hostFolder)).toEqual(["bin"]);
      expect(heard).toContain("begun");
      expect(readdirSync(cacheFolder)).toHaveLength(1);
    });
  });

  test("that does not compile, or no Cargo, is said in one sentence", async () => {
    await withCargo("echo 'error: linker `cc` not found' >&2; echo 'error: failed to compile `mine`' >&2; exit 101", async (registry) => {
      await expect(registry.install("mine")).rejects.toThrow("Harness mine could not be installed: error: linker `cc` not found");
    });
    await withCargo("", async (registry) => {
      await expect(registry.install("mine")).rejects.toMatchObject({
        exitCode: 3,
        message: "Harness mine could not be installed: cargo was not found on this machine.",
      });
    });
  });
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
