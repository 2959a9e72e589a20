import { mkdtempSync, rmSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { sandboxProviders } from "../../main/sandboxes/index.ts";
import { sandboxContract, sandboxRequest } from "./sandbox-contract.ts";

const stateFolder = mkdtempSync(join(tmpdir(), "of-state-"));
const provider = sandboxProviders({ stateFolder }).local;
const { ready, detail } = await provider.probe();

afterAll(() => rmSync(stateFolder, { recursive: true, force: true }));

describe.skipIf(!ready)(`local sandbox${ready ? "" : ` (skipped: ${detail})`}`, () => {
  sandboxContract("local", { provider: () => provider, lose: async (rolloutId) => killFirstProcess(rolloutId) });

  it("refuses what only a container can do", async () => {
    const create = (changes: Parameters<typeof sandboxRequest>[0]) => provider.create(sandboxRequest(changes), () => undefined);
    await expect(create({ network: { mode: "public", allowedHosts: [] } })).rejects.toMatchObject({ exitCode: 3, remedy: "Use --sandbox docker." });
    await expect(create({ image: { kind: "image", reference: "debian" } })).rejects.toMatchObject({ exitCode: 3 });
    await expect(create({ workdir: "/usr/src/app" })).rejects.toMatchObject({ exitCode: 3, message: expect.stringContaining("/usr/src/app") });
  });

  it("leaves nothing on disk", async () => {
    const own = join(stateFolder, "own");
    const box = await sandboxProviders({ stateFolder: own }).local.create(sandboxRequest(), () => undefined);
    await box.exec({ command: ["sh", "-c", "mkdir -p x/y; touch x/y/z; chmod 000 x"], timeoutMs: 10_000, outputLimitBytes: 100 });
    await box.destroy();
    expect(await readdir(join(own, "local"))).toEqual([]);
  });
});

async function killFirstProcess(rolloutId: string): Promise<void> {
  for (const name of await readdir(join(stateFolder, "local"))) {
    const record = z
      .object({ rolloutId: z.string(), init: z.object({ pid: z.number() }).nullable() })
      .parse(JSON.parse(await readFile(join(stateFolder, "local", name, "box.json"), "utf8")));
    if (record.rolloutId === rolloutId && record.init !== null) process.kill(record.init.pid, "SIGKILL");
  }
}
