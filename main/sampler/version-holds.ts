/** Versions that are loaded for the first who holds them. When nobody does, they go as soon as another is loaded, or after a while. */

export interface VersionHolds<Version> {
  /** Resolves when it is loaded. Rejects with what loading failed with; then it is not held. */
  hold(version: Version): Promise<void>;
  release(name: string): void;
  /** Someone holds something. */
  readonly inUse: boolean;
  /** Ends the waiting for what nobody holds; drops nothing. */
  stop(): void;
  /** Drops everything, held or not; resolves when it is gone. */
  dropAll(): Promise<void>;
}

export interface VersionHoldsOptions<Version> {
  readonly load: (version: Version) => Promise<void>;
  /** Whatever goes wrong in it is written to the log: nobody waits for it. */
  readonly drop: (name: string) => Promise<void>;
  readonly idleMs: number;
}

interface Held {
  readonly loading: Promise<void>;
  holders: number;
  idle: NodeJS.Timeout | null;
}

export function createVersionHolds<Version extends { readonly name: string }>(options: VersionHoldsOptions<Version>): VersionHolds<Version> {
  const held = new Map<string, Held>();
  /** On their way out: a name is not loaded again before it is gone. */
  const leaving = new Map<string, Promise<void>>();

  function load(version: Version): Held {
    for (const [name, { holders }] of held) if (holders === 0) drop(name);
    const gone = leaving.get(version.name) ?? Promise.resolve();
    const entry: Held = { loading: gone.then(() => options.load(version)), holders: 0, idle: null };
    held.set(version.name, entry);
    return entry;
  }

  function drop(name: string): void {
    const entry = held.get(name);
    if (entry !== undefined) keep(entry);
    held.delete(name);
    const left = options
      .drop(name)
      .catch((error: unknown) => console.error("policy:", error))
      .finally(() => leaving.delete(name));
    leaving.set(name, left);
  }

  return {
    async hold(version) {
      const entry = held.get(version.name) ?? load(version);
      entry.holders += 1;
      keep(entry);
      try {
        await entry.loading;
      } catch (error) {
        if (held.get(version.name) === entry) held.delete(version.name);
        throw error;
      }
    },
    release(name) {
      const entry = held.get(name);
      if (entry === undefined) return;
      entry.holders -= 1;
      if (entry.holders > 0) return;
      entry.idle = setTimeout(() => drop(name), options.idleMs);
      entry.idle.unref();
    },
    get inUse() {
      return [...held.values()].some(({ holders }) => holders > 0);
    },
    stop() {
      for (const entry of held.values()) keep(entry);
    },
    async dropAll() {
      for (const name of [...held.keys()]) drop(name);
      await Promise.all(leaving.values());
    },
  };
}

function keep(entry: Held): void {
  if (entry.idle !== null) clearTimeout(entry.idle);
  entry.idle = null;
}
