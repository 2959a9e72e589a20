/**
 * Live updates: the service's committed events, collected and flushed once a frame. An event says which values are old; it is
 * never itself the truth on the screen. The last lines are kept for the log panel.
 */
import { create } from "zustand";
import type { EventView } from "../../../main/api/system-views.ts";
import { type ServiceClient, serviceClient } from "./connection.ts";
import { invalidate, invalidateAll, invalidateShown } from "./queries.ts";

const keptEvents = 2000;
const settleAfter = 1500;
const followAgainAfter = 300;
/** A hidden window gets no frames; it still must not pile up events. */
const hiddenFlush = 1000;

interface LiveState {
  readonly events: readonly EventView[];
}
export const useLive = create<LiveState>(() => ({ events: [] }));

let collected: EventView[] = [];
let flushing = false;
let last: number | undefined;
const watchers = new Set<(events: readonly EventView[]) => void>();

/** Calls back with the events of each frame. Returns the end of it. */
export function watchEvents(watcher: (events: readonly EventView[]) => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

/** The training run that an event of its speaks of, and how it stands. */
export function trainingOf({ type, payload }: Pick<EventView, "type" | "payload">): { readonly run: string; readonly status: string } | null {
  if (!type.startsWith("training.")) return null;
  try {
    const value: unknown = JSON.parse(payload);
    if (typeof value !== "object" || value === null || !("run" in value) || typeof value.run !== "string") return null;
    return { run: value.run, status: "status" in value && typeof value.status === "string" ? value.status : "" };
  } catch {
    // Not JSON: it names no run.
    return null;
  }
}

/** The keys that a set of events makes old. */
export function keysMadeOld(events: readonly EventView[]): Set<string> {
  const keys = new Set<string>();
  for (const event of events) {
    // Words of an answer on its way: nothing shown changes before its call is recorded.
    if (event.type === "call.said") continue;
    keys.add("experiments");
    if (event.experiment !== null) {
      keys.add(`rollouts:${event.experiment}`);
      keys.add(`result:${event.experiment}`);
    }
    const training = trainingOf(event);
    if (training !== null) {
      keys.add("trainings");
      keys.add("transfer");
      keys.add(`training:${training.run}`);
    }
    if (event.type === "rollout.outcome" || event.type === "experiment.ended") for (const kind of ["grid:", "comparison:"]) keys.add(kind);
    if (event.rollout === null) continue;
    keys.add(`rollout:${event.rollout}`);
    keys.add(`artifacts:${event.rollout}`);
    keys.add(`tokens:${event.rollout}:`);
  }
  return keys;
}

function flush(): void {
  flushing = false;
  const events = collected;
  collected = [];
  if (events.length === 0) return;
  useLive.setState((state) => ({ events: [...state.events, ...events].slice(-keptEvents) }));
  for (const key of keysMadeOld(events)) invalidate(key);
  for (const watcher of watchers) watcher(events);
}

function collect(event: EventView): void {
  last = event.sequence;
  collected.push(event);
  if (flushing) return;
  flushing = true;
  if (document.hidden) setTimeout(flush, hiddenFlush);
  else requestAnimationFrame(flush);
}

async function follow(client: ServiceClient): Promise<void> {
  const events = await client.system.events(last === undefined ? {} : { after: last });
  for await (const event of events) collect(event);
}

/** Follows events from now on, over every reconnect. A stream that ends is taken up again; nothing in between is lost. */
export async function startLive(): Promise<void> {
  for (;;) {
    const client = await serviceClient();
    invalidateAll();
    // What happened between the first read and the first event is read once more.
    const settle = setTimeout(invalidateShown, settleAfter);
    await follow(client).catch(() => undefined);
    clearTimeout(settle);
    await new Promise((resolve) => setTimeout(resolve, followAgainAfter));
  }
}
