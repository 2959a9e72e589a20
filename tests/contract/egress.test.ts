import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { sandboxProviders } from "../../main/sandboxes/index.ts";
import { egressContract, standInResolver } from "./egress-contract.ts";
import { run, sandboxRequest } from "./sandbox-contract.ts";

const folder = mkdtempSync(join(tmpdir(), "of-egr-"));
const { local, docker } = sandboxProviders({ stateFolder: join(folder, "state"), socketFolder: folder, resolve: standInResolver });
afterAll(() => rmSync(folder, { recursive: true, force: true }));

for (const provider of [local, docker]) {
  const { ready, detail } = await provider.probe();
  describe.skipIf(!ready)(`${provider.kind}${ready ? "" : ` (skipped: ${detail})`}`, () => {
    egressContract(provider.kind, () => provider);

    it("leaves no socket behind", async () => {
      const sockets = (): number => readdirSync(folder).filter((name) => name.startsWith("of-egress-")).length;
      const before = sockets();
      const box = await provider.create(sandboxRequest({ network: { mode: "allowlist", allowedHosts: ["listed.test"] } }), () => undefined);
      await run(box, "true");
      await Promise.all([box.destroy(), box.destroy()]);
      expect(sockets()).toBe(before);
    });
  });
}
