/** Rollouts in a row leave nothing behind. In full by `OPENFORGE_SOAK=full`, or `npm run bench -- soak`. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { sandboxProviders } from "../../main/sandboxes/index.ts";
import { soak } from "../performance/soak/soak.ts";

const full = process.env.OPENFORGE_SOAK === "full";
const counts = { local: full ? 1000 : 60, docker: full ? 100 : 5 } as const;
const folder = mkdtempSync(join(tmpdir(), "of-soak-probe-"));
const providers = sandboxProviders({ stateFolder: folder });
const ready = { local: (await providers.local.probe()).ready, docker: (await providers.docker.probe()).ready };
rmSync(folder, { recursive: true, force: true });

for (const kind of ["local", "docker"] as const) {
  describe.skipIf(!ready[kind])(`${counts[kind]} rollouts in a row, ${kind}`, () => {
    test("leave no process, container, socket, folder or descriptor, and hold no memory", { timeout: 1_800_000 }, async () => {
      const result = await soak({ kind, rollouts: counts[kind], note: (line) => console.log(line) });
      console.log(`${Math.round(result.msARollout)} ms a rollout, ${Math.round(result.bytesARollout)} bytes held a rollout`);
      expect(result.left).toEqual([]);
      expect(result.solved).toBe(counts[kind]);
      // Connections and sockets that are kept for the next request come and go; a leak would be one a rollout.
      expect(result.descriptors).toBeLessThanOrEqual(20);
      if (full) expect(result.bytesARollout).toBeLessThan(20_000);
    });
  });
}
