/** Lanes of the cache: what each holds and which request has it. A lane keeps what it read after its request has ended. */
import type { Job } from "./job.ts";
import type { KeyValueCache } from "./key-value-cache.ts";
import { type HeldPrefix, PrefixStore, type ReuseRule, reusableLength } from "./prefixes.ts";

export class Lane implements HeldPrefix {
  readonly index: number;
  version = "";
  ids: number[] = [];
  aligned = 0;
  job: Job | null = null;
  /** Larger = more recently. */
  lastUsed = 0;

  constructor(index: number) {
    this.index = index;
  }

  get length(): number {
    return this.ids.length;
  }

  /** Notes tokens whose keys and values have been written. */
  hold(ids: Int32Array, asAlignedChunk: boolean): void {
    if (asAlignedChunk && this.aligned === this.ids.length) this.aligned += ids.length;
    for (const id of ids) this.ids.push(id);
  }

  begin(version: string, from: HeldPrefix | null, length: number): void {
    this.ids = from === null ? [] : from.ids.slice(0, length);
    this.aligned = from === null ? 0 : Math.min(from.aligned, length);
    this.version = version;
  }
}

/** A shorter rest of a lane is not worth a copy to save it. */
const worthKeeping = 32;

export class LaneTable {
  readonly all: readonly Lane[];
  readonly #cache: KeyValueCache;
  readonly #parked: PrefixStore;
  #clock = 0;

  constructor(cache: KeyValueCache, parkedBytes: number) {
    this.#cache = cache;
    this.#parked = new PrefixStore(parkedBytes);
    this.all = Array.from({ length: cache.lanes }, (_unused, index) => new Lane(index));
  }

  get busy(): readonly { readonly lane: Lane; readonly job: Job }[] {
    return this.all
      .flatMap((lane) => (lane.job === null ? [] : [{ lane, job: lane.job }]))
      .toSorted((left, right) => left.lane.lastUsed - right.lane.lastUsed);
  }

  get jobs(): readonly Job[] {
    return this.busy.map(({ job }) => job);
  }

  get hasFree(): boolean {
    return this.all.some((lane) => lane.job === null);
  }

  /** Gives the job a free lane with as much of its prompt as is at hand; returns how many tokens that is. */
  assign(job: Job, rule: ReuseRule): number {
    const { version, promptIds } = job.request;
    const candidates = this.all.map((lane) => ({ lane, length: reusableLength(lane, version, promptIds, rule) }));
    const best = candidates.reduce((most, one) => (one.length > most.length ? one : most));
    const parked = this.#parked.best(version, promptIds, rule);
    const free = this.all.filter((lane) => lane.job === null).toSorted((left, right) => left.lastUsed - right.lastUsed);
    const [oldest] = free;
    if (oldest === undefined) throw new RangeError("no lane is free");
    let target = oldest;
    let length = 0;
    if (parked !== null && parked.length > best.length) {
      this.#setAside(target);
      length = parked.length;
      this.#cache.restore(target.index, parked.prefix.saved, parked.prefix.ids.length, length);
      target.begin(version, parked.prefix, length);
    } else if (best.length > 0 && best.lane.job === null && (best.lane.length - best.length < worthKeeping || free.length === 1)) {
      target = best.lane;
      length = best.length;
      target.begin(version, target, length);
    } else {
      // The best lane is busy, or has a further branch that may be wanted again: copy what is common.
      if (best.length > 0 && oldest === best.lane && free[1] !== undefined) target = free[1];
      this.#setAside(target);
      length = best.length;
      if (length > 0) this.#cache.copyPrefix(best.lane.index, target.index, length);
      target.begin(version, length > 0 ? best.lane : null, length);
    }
    target.job = job;
    target.lastUsed = ++this.#clock;
    return length;
  }

  /**
   * Copies what other lanes have come to hold of the prompt since the job got its lane: requests that begin alike and come at once read what
   * they share only once.
   */
  catchUp(lane: Lane, job: Job, rule: ReuseRule): void {
    const { version, promptIds } = job.request;
    for (const other of this.all) {
      const length = other === lane ? 0 : reusableLength(other, version, promptIds, rule);
      if (length <= lane.length) continue;
      this.#cache.copyPrefix(other.index, lane.index, length);
      job.reused += length - lane.length;
      job.read = length;
      lane.begin(version, other, length);
    }
  }

  free(lane: Lane): void {
    lane.job = null;
    lane.lastUsed = ++this.#clock;
  }

  release(job: Job): void {
    for (const lane of this.all) if (lane.job === job) this.free(lane);
  }

  forget(version: string): void {
    this.#parked.forget(version);
    for (const lane of this.all) if (lane.version === version) lane.begin("", null, 0);
  }

  /** After a failure nothing that the lanes hold is trusted. */
  clear(): void {
    for (const lane of this.all) {
      lane.job = null;
      lane.begin("", null, 0);
    }
  }

  /** Saves what a lane holds before it is overwritten, unless another lane holds it too. */
  #setAside(lane: Lane): void {
    if (lane.length < worthKeeping) return;
    const elsewhere = this.all.some(
      (other) => other !== lane && other.version === lane.version && lane.ids.every((id, index) => other.ids[index] === id),
    );
    const bytes = this.#cache.bytesOf(lane.length);
    if (elsewhere || !this.#parked.hasRoom(bytes)) return;
    this.#parked.park({ version: lane.version, ids: lane.ids, aligned: lane.aligned, saved: this.#cache.save(lane.index, lane.length) });
  }
}
