/** What is left of sandboxes when their service is killed, and what it takes to run one without being root. */
import { type ChildProcess, spawn } from "node:child_process";
import { chmod, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type SandboxKind, sandboxProviders } from "../../main/sandboxes/index.ts";

const kinds = ["local", "docker"] as const;
const all = sandboxProviders({ stateFolder: join(tmpdir(), "of-probe") });
const states = new Map<SandboxKind, { ready: boolean; detail: string }>();
for (const kind of kinds) states.set(kind, await all[kind].probe());

const ownerId = `killed-${process.pid}`;
/** Seconds that nobody else sleeps: tells the child's processes from all others. */
const mark = String(600_000 + (process.pid % 100_000));
const childProgram = fileURLToPath(new URL("./sandbox-child.ts", import.meta.url));
let folder: string;
let child: ChildProcess | null = null;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "of-kill-"));
});

afterEach(async () => {
  child?.kill("SIGKILL");
  for (const kind of kinds) await all[kind].reap(ownerId, new Set());
  await rm(folder, { recursive: true, force: true });
});

async function start(kind: SandboxKind, uid?: number): Promise<{ said: string; isolation: { limits: string } }> {
  const args = ["--import", "tsx", childProgram, kind, folder, ownerId, "rollout-of-the-killed", mark];
  const identity = uid === undefined ? {} : { uid, gid: uid };
  const started = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"], ...identity });
  child = started;
  for await (const line of createInterface({ input: started.stdout })) return JSON.parse(line);
  throw new Error("the child said nothing");
}

for (const kind of kinds) {
  const state = states.get(kind);
  describe.skipIf(!state?.ready)(`a killed service with a ${kind} sandbox${state?.ready ? "" : ` (skipped: ${state?.detail})`}`, () => {
    it("leaves nothing that the next one does not clear away", async () => {
      expect((await start(kind)).said).toMatch(/^\d+\nwrote\nmodel\n/);
      for (let look = 0; look < 200 && (await sleepers()).length < 2; look += 1) await delay(20);
      expect(await sleepers()).toHaveLength(2);
      child?.kill("SIGKILL");
      if (kind === "local") {
        for (let look = 0; look < 100 && (await sleepers()).length > 0; look += 1) await delay(20);
        expect(await sleepers()).toEqual([]);
        expect(await readdir(join(folder, "local"))).toHaveLength(1);
      }
      const next = sandboxProviders({ stateFolder: folder })[kind];
      expect(await next.reap("somebody-else", new Set())).toEqual([]);
      expect(await next.reap(ownerId, new Set(["rollout-of-the-killed"]))).toEqual([]);
      expect(await next.reap(ownerId, new Set())).toEqual(["rollout-of-the-killed"]);
      expect(await sleepers()).toEqual([]);
      if (kind === "local") expect(await readdir(join(folder, "local"))).toEqual([]);
      expect(await next.reap(ownerId, new Set())).toEqual([]);
    });
  });
}

describe.skipIf(!states.get("local")?.ready)("a service killed while it starts local sandboxes", () => {
  it("leaves no process, at whatever moment", async () => {
    const program = fileURLToPath(new URL("./starting-child.ts", import.meta.url));
    for (const moment of [0, 15, 40, 90, 160, 250]) {
      const started = spawn(process.execPath, ["--import", "tsx", program, folder, ownerId], { stdio: ["ignore", "pipe", "inherit"] });
      child = started;
      for await (const _line of createInterface({ input: started.stdout })) break;
      await delay(moment);
      started.kill("SIGKILL");
      // A launch that was under way may show up late, and must then end by itself.
      let left: readonly string[] = [];
      for (let look = 0, quiet = 0; look < 200 && quiet < 5; look += 1) {
        left = await processesOfBoxes();
        quiet = left.length === 0 ? quiet + 1 : 0;
        await delay(40);
      }
      expect(left).toEqual([]);
    }
    await sandboxProviders({ stateFolder: folder }).local.reap(ownerId, new Set());
    expect(await readdir(join(folder, "local"))).toEqual([]);
  });
});

describe.skipIf(process.getuid?.() !== 0 || !states.get("local")?.ready)("a service of an ordinary user", () => {
  it("has the local sandbox too", async () => {
    await chmod(folder, 0o777);
    const { said, isolation } = await start("local", 65_534);
    expect(said).toBe("1000\nwrote\nmodel\nrefused\n");
    expect(isolation.limits).toMatch(/^(prlimit|cgroup)/);
  });
});

/** Processes of this machine that the child's box runs. */
async function sleepers(): Promise<readonly string[]> {
  const found: string[] = [];
  for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
    const words = (await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")).replaceAll("\0", " ").trim();
    if (words === `sleep ${mark}`) found.push(pid);
  }
  return found;
}

/** Processes that have a box of this test's folder mounted, or are about to. */
async function processesOfBoxes(): Promise<readonly string[]> {
  const found: string[] = [];
  for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
    const [mounts, words] = await Promise.all(["mountinfo", "cmdline"].map((file) => readFile(`/proc/${pid}/${file}`, "utf8").catch(() => "")));
    if (`${mounts}${words}`.includes(`${folder}/local/`)) found.push(`${pid} ${words?.replaceAll("\0", " ").slice(0, 80)}`);
  }
  return found;
}
