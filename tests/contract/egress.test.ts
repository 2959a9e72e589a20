import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe } from "vitest";
import { sandboxProviders } from "../../main/sandboxes/index.ts";
import { egressContract, standInResolver } from "./egress-contract.ts";

const folder = mkdtempSync(join(tmpdir(), "of-egr-"));
const { local, docker } = sandboxProviders({ stateFolder: join(folder, "state"), socketFolder: folder, resolve: standInResolver });
afterAll(() => rmSync(folder, { recursive: true, force: true }));

for (const provider of [local, docker]) {
  const { ready, detail } = await provider.probe();
  describe.skipIf(!ready)(`${provider.kind}${ready ? "" : ` (skipped: ${detail})`}`, () => egressContract(provider.kind, () => provider));
}
