import { arch, hostname, platform } from "node:os";
import { join } from "node:path";
import { createManifest, type HarnessEntry } from "../../harnesses/index.ts";
import { probeHarness } from "../../rollouts/index.ts";
import type { WorkbenchParts } from "../context.ts";
import { type HarnessProbeView, type HarnessView, harnessProbeSchema } from "../harness-views.ts";
import type { contractImplementer } from "../implementer.ts";
import { streamWork } from "../work-stream.ts";

export function harnessHandlers(os: ReturnType<typeof contractImplementer>, parts: WorkbenchParts) {
  const { harnesses, store } = parts;
  const view = (entry: HarnessEntry): HarnessView => harnessView(entry, store.setting(`harness-probe:${entry.id}`));
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
        const kept: HarnessProbeView = { at: Date.now(), machine: `${hostname()} (${platform()} ${arch()})`, sandbox: input.sandbox, ...probe };
        store.setSetting(`harness-probe:${input.id}`, JSON.stringify(kept));
        return find(input.id);
      }),
    ),
  };
}

/** Programs that an install of this kind runs on this machine. */
const installers: Readonly<Record<string, readonly string[]>> = { bundled: [], npm: ["npm"], pip: ["python3"], cargo: ["cargo", "cc"] };

function harnessView({ id, manifest, fault, installed }: HarnessEntry, probed: string | null): HarnessView {
  return {
    id,
    name: manifest?.name ?? id,
    version: manifest?.version ?? "–",
    licence: manifest?.licence ?? "–",
    summary: manifest?.summary ?? fault ?? "",
    homepage: manifest?.homepage ?? null,
    fault,
    dialects: manifest?.dialects ?? [],
    prefix: manifest?.prefix ?? "no",
    resident: manifest?.resident !== undefined,
    installed,
    install: manifest?.install.kind ?? "–",
    needs: {
      runtime: manifest?.runtime.kind ?? "–",
      runtimeVersion: manifest?.runtime.version ?? null,
      toInstall: [...(installers[manifest?.install.kind ?? "bundled"] ?? [])],
      programs: manifest?.needs.programs ?? [],
      display: manifest?.needs.display ?? false,
      diskMb: manifest?.needs.diskMb ?? null,
      memoryMb: manifest?.needs.memoryMb ?? null,
    },
    mcp: manifest?.mcp?.transports ?? [],
    skills: manifest?.skills !== undefined,
    lacks: manifest?.lacks ?? {},
    contextWindow: manifest?.limits.contextWindow ?? 0,
    maxTokens: manifest?.limits.maxTokens ?? 0,
    lastProbe: probed === null ? null : harnessProbeSchema.parse(JSON.parse(probed)),
  };
}
