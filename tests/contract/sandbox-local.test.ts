import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { type SandboxProvider, sandboxProviders } from "../../main/sandboxes/index.ts";
import { run, sandboxContract, sandboxRequest, text } from "./sandbox-contract.ts";

const stateFolder = mkdtempSync(join(tmpdir(), "of-state-"));
const provider = sandboxProviders({ stateFolder }).local;
const { ready, detail } = await provider.probe();

afterAll(() => rmSync(stateFolder, { recursive: true, force: true }));

const diskBoxes = join(stateFolder, "local");
const memoryBoxes = `/dev/shm/openforge-${createHash("sha256").update(stateFolder).digest("hex").slice(0, 16)}/local`;
/** Boxes for tasks that need little disk: kept in memory. */
const inMemory: SandboxProvider = {
  ...provider,
  create: ({ limits, ...request }, onProgress, signal) => provider.create({ ...request, limits: { ...limits, storageMb: 64 } }, onProgress, signal),
};

const room = existsSync("/dev/shm") ? statfsSync("/dev/shm") : null;
const hasRoom = room !== null && room.bavail * room.bsize >= 1024 ** 3;

describe.skipIf(!ready || !hasRoom)(
  `local sandbox in memory${ready ? (hasRoom ? "" : " (skipped: no room in /dev/shm)") : ` (skipped: ${detail})`}`,
  () => {
    sandboxContract("local, in memory", { provider: () => inMemory, lose: async (rolloutId) => killFirstProcess(memoryBoxes, rolloutId) });

    it("leaves the disk alone, and nothing behind", async () => {
      const box = await inMemory.create(sandboxRequest(), () => undefined);
      try {
        const { stdout } = await run(box, "echo x > here; stat -f -c %T . /logs/agent /tmp");
        expect(text(stdout)).toBe("tmpfs\ntmpfs\ntmpfs\n");
        expect(box.isolation.limits).toContain("kept in memory");
        expect(await readdir(diskBoxes)).toEqual([]);
      } finally {
        await box.destroy();
      }
      await provider.reap(sandboxRequest().ownerId, new Set());
      expect(await readdir(memoryBoxes)).toEqual([]);
    });
  },
);

describe.skipIf(!ready)(`local sandbox${ready ? "" : ` (skipped: ${detail})`}`, () => {
  sandboxContract("local", { provider: () => provider, lose: async (rolloutId) => killFirstProcess(diskBoxes, rolloutId) });

  it("refuses what only a container can do", async () => {
    const create = (changes: Parameters<typeof sandboxRequest>[0]) => provider.create(sandboxRequest(changes), () => undefined);
    await expect(create({ network: { mode: "public", allowedHosts: [] } })).rejects.toMatchObject({
      exitCode: 3,
      remedy: expect.stringContaining("Use --sandbox docker"),
    });
    await expect(create({ image: { kind: "image", reference: "debian" } })).rejects.toMatchObject({ exitCode: 3 });
    await expect(create({ workdir: "/usr/src/app" })).rejects.toMatchObject({ exitCode: 3, message: expect.stringContaining("/usr/src/app") });
  });

  it("hands every word to a command as it is, the first ones and those after", async () => {
    const box = await provider.create(sandboxRequest(), () => undefined);
    try {
      const words = ["it's", '"quoted"', "two\nlines", "", "$HOME `id` \\ !x", "名 ü", "a\tb", ";&|<>(){}[]*?~#", "x".repeat(100_000)];
      const script = "process.stdout.write(JSON.stringify([process.argv.slice(1), process.env.ODD, process.env['A.B-C']]))";
      for (let turn = 0; turn < 11; turn += 1) {
        const env = turn % 2 === 0 ? {} : { ODD: "it's\n$x", "A.B-C": "dotted" };
        const command = ["node", "-e", script, "--", ...words];
        const { stdout, exitCode } = await box.exec({ command, env, timeoutMs: 30_000, outputLimitBytes: 1_000_000 });
        expect([exitCode, JSON.parse(text(stdout))]).toEqual([0, [words, env.ODD ?? null, env["A.B-C"] ?? null]]);
      }
    } finally {
      await box.destroy();
    }
  });

  it("gives a command its three streams only, and no way to the first process", async () => {
    const box = await provider.create(sandboxRequest(), () => undefined);
    try {
      const look = `ls /proc/self/fd | tr '\\n' ' '; for file in environ mem maps fd/0 fd/20 root/etc cwd; do cat /proc/1/$file > /dev/null 2>&1 && echo "reads $file"; done
        kill -KILL 1; kill -STOP 1; kill -TERM 1; (sleep 0.05 &); sleep 0.2; ps -e -o stat= | grep -c Z; [ -w /proc/1/mem ] && echo > /proc/1/mem; echo still here`;
      for (let turn = 0; turn < 10; turn += 1) {
        const { stdout } = await run(box, look);
        expect(text(stdout)).toMatch(/^0 1 2 3 0\nstill here\n$/);
      }
    } finally {
      await box.destroy();
    }
  });

  it("ends also what has made itself namespaces of its own", async () => {
    const box = await provider.create(sandboxRequest(), () => undefined);
    try {
      const hide =
        "setsid unshare --user --map-root-user --pid --fork sleep 605 > /dev/null 2>&1 & sleep 0.4; pkill -KILL -x unshare; sleep 0.1; pgrep -x sleep";
      expect(text((await run(box, hide)).stdout)).toMatch(/^\d+\n$/);
      await box.killAll();
      expect(text((await run(box, "pgrep -x sleep || echo none")).stdout)).toBe("none\n");
    } finally {
      await box.destroy();
    }
  });

  it("lives on when a command ends everything that it can, and tells that its own end is not known", async () => {
    const box = await provider.create(sandboxRequest(), () => undefined);
    try {
      expect((await run(box, "kill -KILL -1; true")).exitCode).toBe(0);
      const sibling = run(box, "sleep 30");
      await run(box, "sleep 0.3; kill -KILL -1");
      expect([137, null]).toContain((await sibling).exitCode);
      expect(text((await run(box, "echo on")).stdout)).toBe("on\n");
    } finally {
      await box.destroy();
    }
  });

  it("leaves nothing on disk", async () => {
    const own = join(stateFolder, "own");
    const box = await sandboxProviders({ stateFolder: own }).local.create(sandboxRequest(), () => undefined);
    await box.exec({ command: ["sh", "-c", "mkdir -p x/y; touch x/y/z; chmod 000 x"], timeoutMs: 10_000, outputLimitBytes: 100 });
    await box.destroy();
    expect(await readdir(join(own, "local"))).toEqual([]);
  });
});

async function killFirstProcess(boxes: string, rolloutId: string): Promise<void> {
  for (const name of await readdir(boxes)) {
    const record = z
      .object({ rolloutId: z.string(), init: z.object({ pid: z.number() }).nullable() })
      .parse(JSON.parse(await readFile(join(boxes, name, "box.json"), "utf8")));
    if (record.rolloutId === rolloutId && record.init !== null) process.kill(record.init.pid, "SIGKILL");
  }
}
