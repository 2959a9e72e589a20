import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { dataFolder, runtimeFolder, runtimePath } from "./folders.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "folders-"));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

test("an empty --data is refused, never taken for the folder of everyday work", () => {
  vi.stubEnv("OPENFORGE_HOME", folder);
  expect(() => dataFolder("")).toThrow("--data names no folder.");
  expect(dataFolder(undefined)).toBe(folder);
});

test("the folder for sockets is private, and asking where it would be makes nothing", () => {
  vi.stubEnv("XDG_RUNTIME_DIR", folder);
  const path = runtimePath("/data");
  expect(existsSync(path)).toBe(false);
  expect(runtimeFolder("/data")).toBe(path);
  expect(runtimeFolder("/data")).toBe(path);
  expect(statSync(path).mode & 0o777).toBe(0o700);
});

test("a place that takes no folders ends in a sentence", () => {
  vi.stubEnv("XDG_RUNTIME_DIR", "/proc/openforge");
  expect(() => runtimeFolder("/data")).toThrow(/^The folder for sockets .* cannot be made\.$/);
});
