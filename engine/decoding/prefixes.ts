/** Which tokens' keys and values are at hand, in lanes or set aside, and how much of a prompt they cover. */

/** Tokens of one weights version whose keys and values are held. */
export interface HeldPrefix {
  readonly version: string;
  readonly ids: readonly number[];
  /** Leading tokens that were read in whole chunks at fixed places, so that their values do not depend on when they were read. */
  readonly aligned: number;
}

export interface ReuseRule {
  /** null: any token can be reused; else only whole chunks of so many tokens that were read as such. */
  readonly chunk: number | null;
}

/** Leading tokens of the prompt that need not be read again. At least one token is always read: its logits are wanted. */
export function reusableLength(prefix: HeldPrefix, version: string, promptIds: ArrayLike<number>, rule: ReuseRule): number {
  if (prefix.version !== version) return 0;
  const limit = Math.min(prefix.ids.length, promptIds.length - 1);
  let common = 0;
  while (common < limit && prefix.ids[common] === promptIds[common]) common += 1;
  return rule.chunk === null ? common : Math.min(Math.floor(common / rule.chunk) * rule.chunk, prefix.aligned);
}

export interface ParkedPrefix extends HeldPrefix {
  /** As `KeyValueCache.save` gave it for all of `ids`. */
  readonly saved: Float32Array;
}

/** Prefixes that had to leave their lane, the least recently used dropped first. */
export class PrefixStore {
  readonly #budget: number;
  /** Oldest first. */
  readonly #entries: ParkedPrefix[] = [];
  #bytes = 0;

  /** `budget`: bytes of keys and values at most. */
  constructor(budget: number) {
    this.#budget = budget;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Whether an entry of so many bytes would be kept; asked before it is made. */
  hasRoom(bytes: number): boolean {
    return bytes <= this.#budget;
  }

  park(prefix: ParkedPrefix): void {
    this.#entries.push(prefix);
    this.#bytes += prefix.saved.byteLength;
    while (this.#bytes > this.#budget) this.#drop(0);
  }

  /** The entry that covers most of the prompt. */
  best(version: string, promptIds: ArrayLike<number>, rule: ReuseRule): { readonly prefix: ParkedPrefix; readonly length: number } | null {
    let best: { readonly prefix: ParkedPrefix; readonly length: number } | null = null;
    for (const prefix of this.#entries) {
      const length = reusableLength(prefix, version, promptIds, rule);
      if (length > (best?.length ?? 0)) best = { prefix, length };
    }
    if (best !== null) this.#entries.push(...this.#entries.splice(this.#entries.indexOf(best.prefix), 1));
    return best;
  }

  /** Forgets a version whose weights are gone. */
  forget(version: string): void {
    for (let index = this.#entries.length - 1; index >= 0; index -= 1) if (this.#entries[index]?.version === version) this.#drop(index);
  }

  #drop(index: number): void {
    const [dropped] = this.#entries.splice(index, 1);
    this.#bytes -= dropped?.saved.byteLength ?? 0;
  }
}
