/**
 * Brings out of the box what outlives it: the harness's logs, artifacts, the verifier's output. Files pass through a scratch folder
 * that is gone when the attempt ends; what is kept is kept in the blob store, redacted.
 */
import { mkdir, open, readdir, rm } from "node:fs/promises";
import { join, posix, relative, sep } from "node:path";
import { WorkbenchError } from "../errors.ts";
import { harnessLogs } from "../harnesses/index.ts";
import { type Sandbox, sandboxCauseOf } from "../sandboxes/index.ts";
import type { ArtifactRecord, Store } from "../store/index.ts";
import { carriedArtifacts, mainService, type Task } from "../tasks/index.ts";
import { type ArtifactPlace, downloadArtifact } from "../verifiers/index.ts";

/** Of one file; a longer one is cut, and its name says so. */
const fileLimitBytes = 64 * 1024 * 1024;
const fileLimitCount = 2000;
/** Of what a service beside the box said: the last of it. */
const serviceLogBytes = 1024 ** 2;

export interface Collector {
  /** Of one step of several, whose names begin with `steps/NAME/`, or of the only one. */
  of(step: string | null): PartCollector;
  /** Removes the scratch folder. */
  dispose(): Promise<void>;
}

export interface PartCollector {
  keepLog(name: string, bytes: Uint8Array): void;
  /** The packed final state of the box. */
  keepWorkspace(packed: Uint8Array): void;
  /** Harness logs and artifacts, after the agent's processes have ended. */
  collectFrom(sandbox: Sandbox, task: Task): Promise<void>;
  /** What the verifier left in its output folder. */
  keepVerifierOutput(): Promise<void>;
  readonly verifierFolder: string;
}

export interface CollectorOptions {
  readonly store: Store;
  readonly scratchFolder: string;
  readonly rolloutId: string;
  readonly attempt: number;
  /** Told, in one sentence, what could not be kept. */
  onLoss(line: string): void;
}

/** Name of the artifact that holds the packed final state of the box, or of one step of it. */
export function workspaceName(step: string | null): string {
  return `${step === null ? "" : `steps/${step}/`}workspace.packed`;
}

export async function createCollector({ store, scratchFolder, rolloutId, attempt, onLoss }: CollectorOptions): Promise<Collector> {
  const folder = join(scratchFolder, `${rolloutId}-${attempt}`);
  await mkdir(folder, { recursive: true });
  let kept = 0;

  function keep(kind: ArtifactRecord["kind"], name: string, bytes: Uint8Array): void {
    kept += 1;
    const { hash, size } = store.blobs.put(bytes);
    store.addArtifact({ rolloutId, attempt, kind, name, blob: hash, size });
  }

  async function keepFolder(kind: ArtifactRecord["kind"], root: string, prefix = ""): Promise<void> {
    for (const path of await filesUnder(root)) {
      if (kept >= fileLimitCount) return;
      const { bytes, cut } = await readUpTo(path, fileLimitBytes);
      const name = `${prefix}${relative(root, path).split(sep).join("/")}`;
      keep(kind, cut ? `${name} (first 64 MiB)` : name, bytes);
    }
  }

  /** What an agent left can be too large or odd: that is told, and ends neither the collection nor the rollout. A lost box does. */
  async function tryToBring(sandbox: Sandbox, place: ArtifactPlace, kind: ArtifactRecord["kind"], name: string): Promise<void> {
    const { inside } = place;
    try {
      await bring(sandbox, place, kind, name);
    } catch (error) {
      if (sandboxCauseOf(error) === "sandbox-lost" || !(error instanceof WorkbenchError)) throw error;
      onLoss(`${inside} could not be kept: ${error.message}`);
    }
  }

  async function bring(sandbox: Sandbox, place: ArtifactPlace, kind: ArtifactRecord["kind"], name: string): Promise<void> {
    const host = join(folder, `out-${kept}-${name.replaceAll(/[^A-Za-z0-9]/g, "_").slice(0, 40)}`);
    if (!(await downloadArtifact(sandbox, place, host))) return;
    const children = await filesUnder(host);
    if (children.length === 1 && children[0] === host) {
      const { bytes, cut } = await readUpTo(host, fileLimitBytes);
      keep(kind, cut ? `${name} (first 64 MiB)` : name, bytes);
    } else {
      await keepFolder(kind, host, name === "" ? "" : `${name}/`);
    }
    await rm(host, { recursive: true, force: true });
  }

  return {
    of(step) {
      const prefix = step === null ? "" : `steps/${step}/`;
      const verifierFolder = join(folder, step === null ? "verifier" : `verifier-${step}`);
      return {
        verifierFolder,
        keepWorkspace: (packed) => keep("workspace", workspaceName(step), packed),
        keepLog: (name, bytes) => keep("harness-log", `${prefix}${name}`, bytes),
        async collectFrom(sandbox, task) {
          const logs = { inside: harnessLogs, exclude: [], service: mainService };
          await tryToBring(sandbox, logs, "harness-log", prefix.replace(/\/$/, ""));
          for (const service of sandbox.services?.names ?? []) {
            const said = await sandbox.services?.logs(service, serviceLogBytes);
            if (said !== undefined && said.length > 0) keep("sandbox-log", `${prefix}services/${service}.log`, said);
          }
          for (const { source, destination, exclude, service } of carriedArtifacts(task)) {
            const inside = posix.resolve(sandbox.workdir, source);
            await tryToBring(sandbox, { inside, exclude, service }, "artifact", `${prefix}${destination ?? inside.slice(1)}`);
          }
        },
        keepVerifierOutput: () => keepFolder("verifier-output", verifierFolder, prefix),
      };
    },
    dispose: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Plain files under a path, or the path itself when it is one; sorted. Links are not followed. */
async function filesUnder(path: string): Promise<readonly string[]> {
  const entries = await readdir(path, { withFileTypes: true, recursive: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOTDIR") return null;
    if (error.code === "ENOENT") return [];
    throw error;
  });
  if (entries === null) return [path];
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
}

async function readUpTo(path: string, limit: number): Promise<{ bytes: Uint8Array; cut: boolean }> {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    const bytes = new Uint8Array(Math.min(size, limit));
    const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
    return { bytes: bytes.subarray(0, bytesRead), cut: size > limit };
  } finally {
    await file.close();
  }
}
