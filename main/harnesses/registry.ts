/** The harnesses this workbench knows: those that ship and those of the data folder's own `harnesses/`. Installs on demand, once. */
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { WorkbenchError } from "../errors.ts";
import type { HarnessMount } from "../sandboxes/index.ts";
import { installFolder, installHarness } from "./install.ts";
import type { HarnessManifest } from "./manifest.ts";
import { requireManifest } from "./read-manifest.ts";
import { type SharedInstall, shareInstall } from "./shared-install.ts";

export interface HarnessRegistryOptions {
  /** Manifests that ship, `<folder>/<id>/manifest.yaml`. */
  readonly shippedFolder: string;
  /** The user's own, of the same form; one with a shipped id takes its place. */
  readonly userFolder: string;
  /** Installs, `<folder>/<id>-<version>-<arch>`; may be shared by services. */
  readonly cacheFolder: string;
}

export interface HarnessEntry {
  readonly id: string;
  /** Folder that holds manifest.yaml. */
  readonly folder: string;
  /** null when the manifest has faults. */
  readonly manifest: HarnessManifest | null;
  /** One sentence when the manifest has faults. */
  readonly fault: string | null;
  readonly installed: boolean;
}

export interface HarnessRegistry {
  /** Every harness by id; a faulty manifest is listed with its fault. */
  list(): Promise<readonly HarnessEntry[]>;
  /** The manifest of one harness; an unknown id or a faulty manifest is a WorkbenchError. */
  get(id: string): Promise<HarnessManifest>;
  /**
   * Makes the harness available for sandboxes of this architecture; installs at the first call. Concurrent calls join: a signal ends
   * only its caller's waiting, and the install when nobody waits for it any more.
   */
  install(id: string, onProgress?: (line: string) => void, signal?: AbortSignal): Promise<HarnessMount>;
}

/** Opens the catalogue; reads manifests anew at every call, so that an edited file counts at once. */
export function harnessRegistry(options: HarnessRegistryOptions): HarnessRegistry {
  const running = new Map<string, SharedInstall<HarnessMount>>();
  const parsed: ParsedManifests = new Map();

  async function entries(): Promise<readonly HarnessEntry[]> {
    const byId = new Map<string, HarnessEntry>();
    for (const folder of [options.shippedFolder, options.userFolder]) {
      for (const id of await manifestFolders(folder)) byId.set(id, await readEntry(id, join(folder, id), options.cacheFolder, parsed));
    }
    return [...byId.values()].toSorted((left, right) => left.id.localeCompare(right.id));
  }

  /** Without a look at the others: every rollout asks for its harness. */
  async function find(id: string): Promise<HarnessEntry | null> {
    for (const folder of [options.userFolder, options.shippedFolder]) {
      if ((await manifestFolders(folder)).includes(id)) return readEntry(id, join(folder, id), options.cacheFolder, parsed);
    }
    return null;
  }

  async function entry(id: string): Promise<HarnessEntry & { manifest: HarnessManifest }> {
    const found = await find(id);
    if (found === null) {
      const known = (await entries()).map((candidate) => candidate.id).join(", ");
      throw new WorkbenchError(
        "not-found",
        `There is no harness called ${id}.`,
        `Use one of ${known}, or write ${join(options.userFolder, id, "manifest.yaml")}.`,
      );
    }
    const { manifest } = found;
    if (manifest === null)
      throw new WorkbenchError("harness", found.fault ?? "", "Correct the manifest; docs/harnesses.md has every key.", { exitCode: 2 });
    return { ...found, manifest };
  }

  return {
    list: entries,
    get: async (id) => (await entry(id)).manifest,
    async install(id, onProgress = () => undefined, signal) {
      const { manifest, folder } = await entry(id);
      const target = installFolder(options.cacheFolder, manifest);
      const stopping = running.get(target);
      if (stopping?.isStopping() === true) await stopping.settled;
      const joined = running.get(target);
      if (joined !== undefined) return joined.join(onProgress, signal);
      const subject = `Harness ${id} could not be installed`;
      const shared = shareInstall(subject, (told, stop) =>
        installHarness({ manifest, manifestFolder: folder, target, onProgress: told, signal: stop }),
      );
      running.set(target, shared);
      void shared.settled.then(() => running.delete(target));
      return shared.join(onProgress, signal);
    },
  };
}

async function manifestFolders(folder: string): Promise<readonly string[]> {
  const found = await readdir(folder, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw new WorkbenchError("harness", `The folder of harnesses ${folder} cannot be read (${error.code}).`, "Make it a folder that you can read.", {
      cause: error,
    });
  });
  // A link counts: people keep a harness where they develop it.
  return found.filter((item) => (item.isDirectory() || item.isSymbolicLink()) && !item.name.startsWith(".")).map((item) => item.name);
}

/** What each manifest was when it was last read, by path: a text that stays the same is not parsed again. */
type ParsedManifests = Map<string, { readonly text: string; readonly manifest: HarnessManifest }>;

async function readEntry(id: string, folder: string, cacheFolder: string, parsed: ParsedManifests): Promise<HarnessEntry> {
  const path = join(folder, "manifest.yaml");
  const broken = (fault: string): HarnessEntry => ({ id, folder, manifest: null, fault, installed: false });
  try {
    const text = await readFile(path, "utf8");
    const known = parsed.get(path);
    const manifest = known?.text === text ? known.manifest : requireManifest(text, path);
    parsed.set(path, { text, manifest });
    if (manifest.id !== id) return broken(`${path}: the id is ${manifest.id} and the folder is called ${id}; both must be the same.`);
    const installed = manifest.install.kind === "bundled" || (await exists(installFolder(cacheFolder, manifest)));
    return { id, folder, manifest, fault: null, installed };
  } catch (error) {
    if (error instanceof WorkbenchError) return broken(error.message);
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return broken(`${folder} has no manifest.yaml.`);
    if (code !== undefined) return broken(`${path} cannot be read (${code}).`);
    throw error;
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
