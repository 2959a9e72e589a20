/** What can be run where no isolation is to be had: see unisolated-sandbox.ts. */
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { arch, release } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { z } from "zod";
import { insidePaths, type SandboxProvider } from "../contract.ts";
import { placeFolders, requirePlace } from "./places.ts";
import { UnisolatedSandbox } from "./unisolated-sandbox.ts";

const recordSchema = z.object({ ownerId: z.string(), rolloutId: z.string() });
const recordFile = "box.json";

export function unisolatedProvider(stateFolder: string): SandboxProvider {
  const parent = join(stateFolder, "unisolated");
  const live = new Set<string>();
  return {
    kind: "local",
    holdsPrograms: true,
    isolates: false,
    async probe() {
      const remedy = "Use --sandbox docker.";
      if (process.platform === "win32") return { ready: false, detail: "this system has no bash", remedy };
      const found = await promisify(execFile)("bash", ["--version"]).then(
        () => true,
        () => false,
      );
      return found ? { ready: true, detail: "bash", remedy: null } : { ready: false, detail: "bash was not found", remedy };
    },
    async create({ ownerId, rolloutId, workdir: asked }) {
      const workdir = asked ?? insidePaths.work;
      requirePlace(parent, workdir);
      const folder = join(parent, randomBytes(6).toString("hex"));
      for (const name of placeFolders) await mkdir(join(folder, name), { recursive: true });
      await mkdir(requirePlace(folder, workdir), { recursive: true });
      await writeFile(join(folder, recordFile), JSON.stringify({ ownerId, rolloutId }));
      live.add(folder);
      const fingerprint = { image: "none", kernel: release(), architecture: arch(), locale: "C.UTF-8", timezone: "UTC", node: process.version };
      return new UnisolatedSandbox({ folder, workdir, fingerprint, onEnd: () => live.delete(folder) });
    },
    async reap(ownerId, keep) {
      const ended: string[] = [];
      for (const name of await readdir(parent).catch(() => [])) {
        const folder = join(parent, name);
        const record = await readRecord(join(folder, recordFile));
        if (live.has(folder) || (record !== null && (record.ownerId !== ownerId || keep.has(record.rolloutId)))) continue;
        await rm(folder, { recursive: true, force: true });
        if (record !== null) ended.push(record.rolloutId);
      }
      return ended;
    },
  };
}

async function readRecord(path: string): Promise<z.infer<typeof recordSchema> | null> {
  const text = await readFile(path, "utf8").catch(() => null);
  const read = text === null ? null : recordSchema.safeParse(parsed(text));
  return read?.success === true ? read.data : null;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Killed while it was written.
    return null;
  }
}
