/**
 * Sampler processes of the service, one for each model and settings, shared by all rollouts that want the same. One that nobody
 * holds stays warm for a while; one that died is started again for the next who asks.
 */

import type { SamplerOptions } from "./protocol.ts";
import { openSampler, type Sampler } from "./sampler.ts";

export interface SamplerLease {
  readonly sampler: Sampler;
  /** Gives it back; twice is once. */
  release(): void;
}

export interface SamplerPool {
  /** Rejects with WorkbenchError when the model cannot be loaded. */
  acquire(options: SamplerOptions): Promise<SamplerLease>;
  close(): Promise<void>;
}

interface Entry {
  readonly opening: Promise<Sampler>;
  holders: number;
  idle: NodeJS.Timeout | null;
}

export function createSamplerPool(options: { readonly idleMs?: number } = {}): SamplerPool {
  const idleMs = options.idleMs ?? 120_000;
  const entries = new Map<string, Entry>();

  async function usable(key: string, wanted: SamplerOptions): Promise<Entry> {
    const known = entries.get(key);
    if (known !== undefined) {
      const sampler = await known.opening;
      if (sampler.alive) return known;
      if (entries.get(key) === known) entries.delete(key);
      return usable(key, wanted);
    }
    const entry: Entry = { opening: openSampler(wanted), holders: 0, idle: null };
    entries.set(key, entry);
    entry.opening.catch(() => entries.delete(key));
    await entry.opening;
    return entry;
  }

  function giveBack(key: string, entry: Entry): void {
    entry.holders -= 1;
    if (entry.holders > 0) return;
    entry.idle = setTimeout(() => {
      if (entries.get(key) === entry) entries.delete(key);
      void entry.opening.then((sampler) => sampler.close());
    }, idleMs);
    entry.idle.unref();
  }

  return {
    async acquire(wanted) {
      const key = JSON.stringify(wanted);
      const entry = await usable(key, wanted);
      entry.holders += 1;
      if (entry.idle !== null) clearTimeout(entry.idle);
      entry.idle = null;
      let released = false;
      return {
        sampler: await entry.opening,
        release() {
          if (!released) giveBack(key, entry);
          released = true;
        },
      };
    },
    async close() {
      const all = [...entries.values()];
      entries.clear();
      for (const { opening, idle } of all) {
        if (idle !== null) clearTimeout(idle);
        await opening.then(
          (sampler) => sampler.close(),
          () => undefined,
        );
      }
    },
  };
}
