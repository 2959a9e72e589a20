/** Slots of resident harnesses: taken by one rollout at a time, kept a while for the next, started when there is none. */
import { randomBytes } from "node:crypto";
import { WorkbenchError } from "../../errors.ts";
import { type HarnessManifest, harnessHome, residentCommand } from "../../harnesses/index.ts";
import type { Proxy as RecordingProxy } from "../../proxy/index.ts";
import type { HarnessMount, SandboxProvider } from "../../sandboxes/index.ts";
import { openSlot, type Slot } from "./slot.ts";

/** A slot that nobody takes for so long is closed. */
const idleMs = 60_000;
/** Then a fresh process takes over, whatever the old one has gathered. */
const rolloutsOfOneSlot = 1_000;

interface SlotRequest {
  readonly manifest: HarnessManifest;
  readonly mount: HarnessMount;
  readonly provider: SandboxProvider;
}

interface SlotLease {
  readonly slot: Slot;
  /** Gives it back when its session has ended, or ends it when it is lost. */
  release(): Promise<void>;
}

export interface SlotPool {
  /** Rejects with WorkbenchError when none can be started. */
  take(request: SlotRequest): Promise<SlotLease>;
  close(): Promise<void>;
}

export interface SlotPoolOptions {
  readonly proxy: RecordingProxy;
  /** Short folder for sockets. */
  readonly socketFolder: string;
  readonly ownerId: string;
}

interface IdleSlot {
  readonly slot: Slot;
  readonly served: number;
  readonly timer: NodeJS.Timeout;
}

/** Slots with one key are alike. */
function keyOf({ manifest, mount, provider }: SlotRequest): string {
  return JSON.stringify([provider.kind, provider.isolates, mount.version, residentCommand(manifest)]);
}

export function createSlotPool(options: SlotPoolOptions): SlotPool {
  const idle = new Map<string, IdleSlot[]>();
  const taken = new Set<Slot>();
  let closed = false;

  async function start({ manifest, mount, provider }: SlotRequest): Promise<Slot> {
    const command = residentCommand(manifest);
    const door = await options.proxy.openDoor(options.socketFolder);
    const sandbox = await provider
      .create(
        {
          rolloutId: `slot-${randomBytes(4).toString("hex")}`,
          ownerId: options.ownerId,
          image: { kind: "host" },
          network: { mode: "no-network", allowedHosts: [] },
          limits: {},
          workdir: "/app",
          proxySocket: door.path,
        },
        () => undefined,
      )
      .catch(async (error: unknown) => {
        await door.close();
        throw error;
      });
    try {
      await sandbox.provide(mount);
      if (sandbox.start === undefined) throw new Error(`a ${sandbox.kind} sandbox holds no program`);
      return await openSlot(sandbox, door, await sandbox.start({ command, cwd: harnessHome }));
    } catch (error) {
      await sandbox.destroy();
      await door.close();
      if (error instanceof WorkbenchError) throw error;
      const detail = error instanceof Error ? error.message : String(error);
      throw new WorkbenchError("harness", `${manifest.id} cannot be started as a resident: ${detail}`, "See docs/harnesses.md, Resident harnesses.", {
        cause: "harness-exit",
      });
    }
  }

  function takeIdle(key: string): { readonly slot: Slot; readonly served: number } | null {
    const waiting = idle.get(key) ?? [];
    // The one used last is the warmest.
    for (let found = waiting.pop(); found !== undefined; found = waiting.pop()) {
      clearTimeout(found.timer);
      if (found.slot.usable) return found;
    }
    return null;
  }

  function keep(key: string, slot: Slot, served: number): void {
    const waiting = idle.get(key) ?? [];
    const timer = setTimeout(() => {
      waiting.splice(waiting.indexOf(entry), 1);
      slot.close().catch((error: unknown) => console.error(error));
    }, idleMs).unref();
    const entry: IdleSlot = { slot, served, timer };
    waiting.push(entry);
    idle.set(key, waiting);
  }

  return {
    async take(request) {
      const key = keyOf(request);
      const { slot, served } = takeIdle(key) ?? { slot: await start(request), served: 0 };
      taken.add(slot);
      return {
        slot,
        async release() {
          // A cancelled rollout lets go of it while its session is still being stopped.
          await slot.atRest();
          if (!taken.delete(slot)) return;
          if (slot.usable && !closed && served + 1 < rolloutsOfOneSlot) keep(key, slot, served + 1);
          else await slot.close();
        },
      };
    },
    async close() {
      closed = true;
      const all = [...taken, ...[...idle.values()].flat().map(({ slot }) => slot)];
      for (const { timer } of [...idle.values()].flat()) clearTimeout(timer);
      idle.clear();
      await Promise.all(all.map((slot) => slot.close().catch((error: unknown) => console.error(error))));
    },
  };
}
