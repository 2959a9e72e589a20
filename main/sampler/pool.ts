/**
 * Sampler processes of the service, one for each base model and settings, shared by everyone who wants a version of that model. One that
 * nobody holds stays warm for a while; one that died is started again, with the weights, at the next call.
 */
import { type SamplerWish, samplerOptions } from "./defaults.ts";
import type { SampleRequest, SamplerCounts, SamplerInfo, WeightsVersion } from "./protocol.ts";
import { openSampler, type SampleResult, type Sampler } from "./sampler.ts";
import { createVersionHolds, type VersionHolds } from "./version-holds.ts";

/** One version of the weights, held. */
export interface SamplerLease {
  readonly info: SamplerInfo;
  /** Rejects only with the signal's reason. `onToken` is called with each id as it is drawn, also with those that end the answer. */
  sample(request: Omit<SampleRequest, "version" | "followed">, signal: AbortSignal, onToken?: (id: number) => void): Promise<SampleResult>;
  /** Of the whole process. */
  counts(): Promise<SamplerCounts>;
  /** Gives it back; twice is once. */
  release(): void;
}

export interface SamplerPool {
  /** Rejects with WorkbenchError when the model or the version cannot be loaded. */
  acquire(wish: SamplerWish, version: WeightsVersion): Promise<SamplerLease>;
  close(): Promise<void>;
}

interface Entry {
  readonly opening: Promise<Sampler>;
  readonly versions: VersionHolds<WeightsVersion>;
  idle: NodeJS.Timeout | null;
}

interface Hold {
  readonly sampler: Sampler;
  readonly entry: Entry;
}

/** `idleMs`: how long a process, `versionIdleMs`: how long weights stay when nobody holds them. */
export function createSamplerPool(options: { readonly idleMs?: number; readonly versionIdleMs?: number } = {}): SamplerPool {
  const { idleMs = 120_000, versionIdleMs = 10_000 } = options;
  const entries = new Map<string, Entry>();

  async function usable(wish: SamplerWish): Promise<Entry> {
    const key = JSON.stringify(wish);
    const known = entries.get(key);
    if (known !== undefined) {
      const sampler = await known.opening;
      if (sampler.alive) return known;
      if (entries.get(key) === known) entries.delete(key);
      return usable(wish);
    }
    const opening = samplerOptions(wish).then(openSampler);
    const versions = createVersionHolds<WeightsVersion>({
      load: async (version) => (await opening).publish(version),
      drop: async (name) => {
        const sampler = await opening;
        await sampler.retire(name).catch((error: unknown) => {
          // A process that has ended has forgotten it anyway.
          if (sampler.alive) throw error;
        });
      },
      idleMs: versionIdleMs,
    });
    const entry: Entry = { opening, versions, idle: null };
    entries.set(key, entry);
    opening.catch(() => entries.delete(key));
    await opening;
    return entry;
  }

  async function hold(wish: SamplerWish, version: WeightsVersion): Promise<Hold> {
    const entry = await usable(wish);
    if (entry.idle !== null) clearTimeout(entry.idle);
    entry.idle = null;
    try {
      await entry.versions.hold(version);
      return { sampler: await entry.opening, entry };
    } catch (error) {
      restIfUnused(entry);
      throw error;
    }
  }

  function restIfUnused(entry: Entry): void {
    if (entry.versions.inUse) return;
    if (entry.idle !== null) clearTimeout(entry.idle);
    entry.idle = setTimeout(() => {
      for (const [key, each] of entries) if (each === entry) entries.delete(key);
      void end(entry);
    }, idleMs);
    entry.idle.unref();
  }

  return {
    async acquire(wish, version) {
      const first = await hold(wish, version);
      let current = Promise.resolve(first);
      let released = false;

      /** The process, started again if it is gone; calls that find it so at once share one start. */
      async function living(): Promise<Sampler> {
        const seen = current;
        const { sampler } = await seen;
        if (sampler.alive || released) return sampler;
        if (current === seen) {
          current = hold(wish, version);
          current.catch(() => {
            current = seen;
          });
        }
        return (await current).sampler;
      }

      return {
        info: first.sampler.info,
        async sample(request, signal, onToken) {
          let sampler: Sampler;
          try {
            sampler = await living();
          } catch (error) {
            return { ok: false, failure: { kind: "lost", message: error instanceof Error ? error.message : String(error) } };
          }
          return sampler.sample({ ...request, version: version.name }, signal, onToken);
        },
        counts: async () => (await living()).counts(),
        release() {
          if (released) return;
          released = true;
          current.then(
            ({ entry }) => {
              entry.versions.release(version.name);
              restIfUnused(entry);
            },
            () => undefined,
          );
        },
      };
    },
    async close() {
      const all = [...entries.values()];
      entries.clear();
      for (const entry of all) await end(entry);
    },
  };
}

async function end({ opening, versions, idle }: Entry): Promise<void> {
  if (idle !== null) clearTimeout(idle);
  versions.stop();
  await opening.then(
    (sampler) => sampler.close(),
    () => undefined,
  );
}
