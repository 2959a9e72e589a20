/** A data folder on a disk that is full to the last byte: the command line says so and ends, with and without a service of its own. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { canMount } from "../../main/store/small-disk.test-data.ts";
import { run, start } from "./openforge.ts";

describe.skipIf(!canMount())("a full disk (needs root to mount a small one)", () => {
  let data = "";
  beforeEach(() => {
    data = mkdtempSync(join(tmpdir(), "openforge-e2e-"));
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=2m", "tmpfs", data]);
  });
  afterEach(() => {
    execFileSync("umount", ["-l", data]);
    rmSync(data, { recursive: true, force: true });
  });

  const many = ["run", "--tasks", "starter", "--policy", "scripted", "-k", "8"];
  const full = /The disk of the data folder .* is full; nothing more is recorded\.\n {2}Free some space/;

  test("an experiment whose ends cannot be written ends with a sentence, not never", async () => {
    const ended = await run(many, data);
    expect([ended.code, ended.stderr]).toEqual([1, expect.stringMatching(full)]);
    expect(ended.stderr).not.toMatch(/\n\s+at /);
  });

  test("so it does with a service beside it, which goes on serving", async () => {
    const service = start(["serve"], data);
    await service.waitFor(/^Workbench at/m);
    const ended = await run(many, data);
    expect([ended.code, ended.stderr]).toEqual([1, expect.stringMatching(full)]);
    expect((await run(["runs", "list"], data)).code).toBe(0);
    service.process.kill("SIGTERM");
    expect((await service.ended).stderr).not.toMatch(/\n\s+at /);
  });
});
