/** Starts the workbench's parts in order of dependence, and ends them in reverse. */
import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { BlobHash } from "../engine/conversation/index.ts";
import type { WorkbenchParts } from "./api/index.ts";
import { createAttachService } from "./attach/index.ts";
import { harnessRegistry } from "./harnesses/index.ts";
import { cacheFolder, productFolder, productVersion, runtimeFolder } from "./machine/index.ts";
import { importedModels, trainingFolder } from "./models/index.ts";
import { createPolicyRegistry, startProxy } from "./proxy/index.ts";
import { createRolloutService } from "./rollouts/index.ts";
import { createSamplerPool } from "./sampler/index.ts";
import { sandboxProviders } from "./sandboxes/index.ts";
import { openStore, type Store } from "./store/index.ts";
import { createTrainingService } from "./training/index.ts";

export interface Workbench extends WorkbenchParts {
  readBlob(hash: string): Uint8Array | null;
  /** Tells when work begins and when the last of it has ended. Returns the unsubscriber. */
  onBusyChange(listener: (busy: boolean) => void): () => void;
  close(): Promise<void>;
}

export async function bootWorkbench(options: { readonly dataFolder: string }): Promise<Workbench> {
  const product = productFolder();
  const resources = join(product, "resources");
  const cache = cacheFolder();
  const undo: (() => Promise<void> | void)[] = [];
  const close = async (): Promise<void> => {
    for (const step of undo.splice(0).toReversed()) await step();
  };
  try {
    const store = openStore(options.dataFolder);
    undo.push(() => store.close());
    const runtime = emptyRuntimeFolder(options.dataFolder);
    undo.push(() => rmSync(runtime, { recursive: true, force: true }));
    const ownerId = ownerOf(store);
    const proxy = await startProxy({ store });
    undo.push(() => proxy.close());
    const samplers = createSamplerPool();
    undo.push(() => samplers.close());
    const policies = createPolicyRegistry({
      store,
      policiesFolder: join(resources, "policies"),
      env: process.env,
      trainingFolder: trainingFolder(options.dataFolder),
      embedded: { samplers, modelsFolder: importedModels(options.dataFolder) },
    });
    undo.push(() => policies.close());
    const harnesses = harnessRegistry({
      shippedFolder: join(resources, "harnesses"),
      userFolder: join(options.dataFolder, "harnesses"),
      cacheFolder: join(cache, "harnesses"),
    });
    const sandboxes = sandboxProviders({ stateFolder: join(options.dataFolder, "sandboxes"), socketFolder: runtime });
    const rollouts = createRolloutService({
      store,
      proxy,
      policies,
      harnesses,
      sandboxes,
      ownerId,
      starterTasksFolder: join(resources, "tasks"),
      socketFolder: runtime,
      env: process.env,
    });
    undo.push(() => rollouts.close());
    await rollouts.resumeUnfinished();
    const attach = createAttachService({ store, proxy, policies });
    undo.push(() => attach.close());
    attach.endUnfinished();
    const training = createTrainingService({ store, rollouts, harnesses, policies, resources, modelsFolder: importedModels(options.dataFolder) });
    undo.push(() => training.close());
    await training.resumeUnfinished();
    return {
      version: productVersion(),
      store,
      proxy,
      policies,
      harnesses,
      sandboxes,
      rollouts,
      attach,
      training,
      folders: { resources, cache, runtime },
      ownerId,
      env: process.env,
      readBlob: (hash) => store.blobs.get(hash as BlobHash),
      onBusyChange: (listener) => watchBusy(store, listener),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Sockets of a service that was killed are of no use to anyone; the store's lock says that no other service runs. */
function emptyRuntimeFolder(dataFolder: string): string {
  rmSync(runtimeFolder(dataFolder), { recursive: true, force: true });
  return runtimeFolder(dataFolder);
}

/** One id a data folder, so that a service never touches another's sandboxes. */
function ownerOf(store: Store): string {
  const known = store.setting("owner-id");
  if (known !== null) return JSON.parse(known);
  const made = randomUUID().slice(0, 8);
  store.setSetting("owner-id", JSON.stringify(made));
  return made;
}

function watchBusy(store: Store, listener: (busy: boolean) => void): () => void {
  const isBusy = (): boolean => store.unfinishedRollouts().length > 0;
  let last = isBusy();
  if (last) listener(true);
  return store.onEvent((event) => {
    if (!event.type.startsWith("experiment.")) return;
    const now = isBusy();
    if (now !== last) listener(now);
    last = now;
  });
}
