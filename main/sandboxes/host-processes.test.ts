import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { killQuietly, killUntilNone, namespaceMembers, pidNamespace, processesOf, processStat } from "./host-processes.ts";

describe.skipIf(process.platform !== "linux")("processes of this machine", () => {
  it("are found by mark, session or parent, though the name of one holds brackets, and end", async () => {
    const script = 'cp /bin/sleep "$TMP/a) b ("; env -i "$TMP/a) b (" 60 & setsid sleep 61 & sleep 62';
    const folder = mkdtempSync(join(tmpdir(), "of-processes-"));
    const child = spawn("sh", ["-c", script], { env: { ...process.env, TMP: folder, MARK: "yes" }, detached: true, stdio: "ignore" });
    const pid = child.pid ?? 0;
    const list = (): readonly number[] =>
      processesOf(namespaceMembers(pidNamespace(process.pid) ?? ""), "MARK=yes", (other) => processStat(other)?.session === pid);
    for (let look = 0; look < 200 && list().length < 4; look += 1) await delay(10);
    expect(list()).toHaveLength(4);
    const ended = once(child, "exit");
    expect(await killUntilNone(list, 5000)).toBe(true);
    await ended;
    expect(list()).toEqual([]);
    expect(processStat(pid)).toBeNull();
    killQuietly(pid);
    rmSync(folder, { recursive: true });
  });

  it("are told apart from later ones of the same number by their start", async () => {
    const own = processStat(process.pid);
    expect(own?.parent).toBe(process.ppid);
    expect(Number(own?.startTime)).toBeGreaterThan(0);
  });
});
