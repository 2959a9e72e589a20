import { join } from "node:path";
import { z } from "zod";
import { createManifest, type HarnessEntry } from "../../harnesses/index.ts";
import { probeHarness } from "../../rollouts/index.ts";
import type { WorkbenchParts } from "../context.ts";
import type { contractImplementer } from "../implementer.ts";
import { captureSchema, type HarnessView } from "../views.ts";
import { streamWork } from "../work-stream.ts";

const probeSetting = z.object({ at: z.number(), ok: z.boolean(), detail: z.string(), capture: captureSchema.nullable() });

export function harnessHandlers(os: ReturnType<typeof contractImplementer>, parts: WorkbenchParts) {
  const { harnesses, store } = parts;
  const view = (entry: HarnessEntry): HarnessView => {
    const { manifest } = entry;
    const probed = store.setting(`harness-probe:${entry.id}`);
    return {
      id: entry.id,
      name: manifest?.name ?? entry.id,
      version: manifest?.version ?? "–",
      licence: manifest?.licence ?? "–",
      summary: manifest?.summary ?? entry.fault ?? "",
      dialects: manifest?.dialects ?? [],
      prefix: manifest?.prefix ?? "no",
      resident: manifest?.resident !== undefined,
      installed: entry.installed,
      install: manifest?.install.kind ?? "–",
      lastProbe: probed === null ? null : probeSetting.parse(JSON.parse(probed)),
    };
  };
  const find = async (id: string): Promise<HarnessView> => {
    await harnesses.get(id);
    const entry = (await harnesses.list()).find((candidate) => candidate.id === id);
    if (entry === undefined) throw new Error(`harness ${id} vanished while it was read`);
    return view(entry);
  };
  return {
    list: os.harnesses.list.handler(async () => (await harnesses.list()).map(view)),
    create: os.harnesses.create.handler(async ({ input }) => ({ path: await createManifest(join(store.dataFolder, "harnesses"), input.id) })),
    install: os.harnesses.install.handler(({ input, signal }) =>
      streamWork(signal, async (report, stop) => {
        await harnesses.install(input.id, report, stop);
        return find(input.id);
      }),
    ),
    probe: os.harnesses.probe.handler(({ input, signal }) =>
      streamWork(signal, async (report, stop) => {
        const probe = await probeHarness({ ...parts, probeFolder: join(parts.folders.resources, "probe") }, input.id, input.sandbox, report, stop);
        store.setSetting(`harness-probe:${input.id}`, JSON.stringify({ at: Date.now(), ...probe }));
        return find(input.id);
      }),
    ),
  };
}
