/**
 * Byte-pair encoding of one piece of text over ids. Equal to the reference by construction: among all neighbours the pair
 * with the lowest rank is merged first, the leftmost of equals.
 */
import { byteTokenName, characterOfByte } from "./byte-alphabet.ts";
import type { ModelDefinition } from "./definition.ts";

/** Ids of a piece and the UTF-16 units that each stands for, half-open. Bytes of one character share its units. */
export interface Symbols {
  readonly ids: number[];
  readonly starts: number[];
  readonly ends: number[];
}

/** Rank and position in one number, so that a heap of numbers pops the lowest rank, the leftmost of equals. */
const positionRange = 2 ** 32;
/** Pieces longer than this are neither kept in the cache nor encoded in one go where they can be cut. */
const longPiece = 256;
const cacheEntries = 65_536;

export class BytePairEncoding {
  readonly #vocabulary: ReadonlyMap<string, number>;
  readonly #rankOfPair = new Map<number, number>();
  readonly #mergedId: number[] = [];
  readonly #byteIds: readonly (number | undefined)[];
  readonly #byteLevel: boolean;
  readonly #byteFallback: boolean;
  readonly #ignoreMerges: boolean;
  readonly #fuseUnknown: boolean;
  readonly #unknown: number | undefined;
  readonly #forbidden: ReadonlySet<number>;
  /** Neighbouring characters that some merge joins, when pieces may be cut between all others; else null. */
  readonly #joints: ReadonlySet<number> | null;
  readonly #cache = new Map<string, readonly number[]>();
  readonly #keyFactor: number;

  /** `forbidden` ids never come out of a piece's text as a whole: they belong to added tokens. */
  constructor(definition: ModelDefinition, vocabulary: ReadonlyMap<string, number>, byteLevel: boolean, forbidden: ReadonlySet<number>) {
    this.#vocabulary = vocabulary;
    this.#byteLevel = byteLevel;
    this.#byteFallback = definition.byte_fallback ?? false;
    this.#ignoreMerges = definition.ignore_merges ?? false;
    this.#fuseUnknown = definition.fuse_unk ?? false;
    this.#unknown = definition.unk_token === null || definition.unk_token === undefined ? undefined : vocabulary.get(definition.unk_token);
    this.#forbidden = forbidden;
    this.#keyFactor = Math.max(...vocabulary.values(), 0) + 1;
    const merges = definition.merges.map((merge) => (typeof merge === "string" ? cutMerge(merge) : merge));
    const rankOfResult = definition.rank_by_result === true ? new Map<number, number>() : null;
    for (const [left, right] of merges) this.#addMerge(left, right, rankOfResult);
    this.#byteIds = Array.from({ length: 256 }, (_, byte) => vocabulary.get(byteLevel ? (characterOfByte[byte] ?? "") : byteTokenName(byte)));
    const everyByteKnown = this.#byteIds.every((id) => id !== undefined);
    this.#joints = !byteLevel && this.#byteFallback && everyByteKnown ? jointsOf(merges) : null;
  }

  /** Ids of a piece. */
  encode(piece: string): readonly number[] {
    const cached = this.#cache.get(piece);
    if (cached !== undefined) return cached;
    if (piece.length > longPiece) return this.#joints === null ? this.symbols(piece).ids : this.#encodeLong(piece, this.#joints);
    const ids = this.symbols(piece).ids;
    if (this.#cache.size >= cacheEntries) this.#cache.clear();
    this.#cache.set(piece, ids);
    return ids;
  }

  /** Ids of a piece with their places in it. */
  symbols(piece: string): Symbols {
    const whole = this.#ignoreMerges ? this.#wholeId(piece) : undefined;
    if (whole !== undefined) return { ids: [whole], starts: [0], ends: [piece.length] };
    return this.#merge(this.#byteLevel ? this.#byteSymbols(piece) : this.#characterSymbols(piece));
  }

  /** A long piece cut where no merge can reach across, so that its words are cached. The ids are the same. */
  #encodeLong(piece: string, joints: ReadonlySet<number>): number[] {
    const whole = this.#ignoreMerges ? this.#wholeId(piece) : undefined;
    if (whole !== undefined) return [whole];
    const ids: number[] = [];
    let start = 0;
    let previous = -1;
    for (let unit = 0; unit < piece.length; ) {
      const point = piece.codePointAt(unit) ?? 0;
      if (previous >= 0 && !joints.has(jointKey(previous, point))) {
        for (const id of this.#encodePart(piece.slice(start, unit))) ids.push(id);
        start = unit;
      }
      previous = point;
      unit += point > 0xffff ? 2 : 1;
    }
    for (const id of this.#encodePart(piece.slice(start))) ids.push(id);
    return ids;
  }

  #encodePart(part: string): readonly number[] {
    if (this.#ignoreMerges) return this.#merge(this.#characterSymbols(part)).ids;
    return part.length > longPiece ? this.symbols(part).ids : this.encode(part);
  }

  #wholeId(piece: string): number | undefined {
    const written = this.#byteLevel ? writeInAlphabet(piece) : piece;
    const id = this.#vocabulary.get(written);
    return id === undefined || this.#forbidden.has(id) ? undefined : id;
  }

  #addMerge(left: string, right: string, rankOfResult: Map<number, number> | null): void {
    const leftId = this.#vocabulary.get(left);
    const rightId = this.#vocabulary.get(right);
    const merged = this.#vocabulary.get(left + right);
    if (leftId === undefined || rightId === undefined || merged === undefined)
      throw new Error(`tokenizer.json cannot be used: the merge ${JSON.stringify([left, right])} is not in the vocabulary`);
    const shared = rankOfResult?.get(merged);
    this.#rankOfPair.set(leftId * this.#keyFactor + rightId, shared ?? this.#mergedId.length);
    if (shared !== undefined) return;
    rankOfResult?.set(merged, this.#mergedId.length);
    this.#mergedId.push(merged);
  }

  #byteSymbols(piece: string): Symbols {
    const symbols: Symbols = { ids: [], starts: [], ends: [] };
    let unit = 0;
    for (const character of piece) {
      const end = unit + character.length;
      for (const byte of utf8(character)) this.#push(symbols, this.#byteIds[byte] ?? this.#unknown, unit, end);
      unit = end;
    }
    return symbols;
  }

  #characterSymbols(piece: string): Symbols {
    const symbols: Symbols = { ids: [], starts: [], ends: [] };
    let unit = 0;
    for (const character of piece) {
      const end = unit + character.length;
      const id = this.#vocabulary.get(character);
      const bytes = id === undefined && this.#byteFallback ? utf8(character).map((byte) => this.#byteIds[byte]) : [];
      if (id !== undefined) this.#push(symbols, id, unit, end);
      else if (bytes.length > 0 && bytes.every((byteId) => byteId !== undefined)) for (const byteId of bytes) this.#push(symbols, byteId, unit, end);
      else this.#push(symbols, this.#unknown, unit, end);
      unit = end;
    }
    return symbols;
  }

  /** What the vocabulary does not know and has no unknown token for is left out, as in the reference. */
  #push(symbols: Symbols, id: number | undefined, start: number, end: number): void {
    if (id === undefined) return;
    const last = symbols.ids.length - 1;
    if (this.#fuseUnknown && id === this.#unknown && symbols.ids[last] === id && symbols.ends[last] === start) {
      symbols.ends[last] = end;
      return;
    }
    symbols.ids.push(id);
    symbols.starts.push(start);
    symbols.ends.push(end);
  }

  #merge(symbols: Symbols): Symbols {
    const { ids, starts, ends } = symbols;
    const count = ids.length;
    if (count < 2) return symbols;
    const next = Array.from({ length: count }, (_, index) => index + 1);
    const previous = Array.from({ length: count }, (_, index) => index - 1);
    const alive = new Uint8Array(count).fill(1);
    const heap: number[] = [];
    const offer = (left: number) => {
      const right = next[left] ?? count;
      const rank = right < count ? this.#rank(ids[left], ids[right]) : undefined;
      if (rank !== undefined) heapPush(heap, rank * positionRange + left);
    };
    for (let left = 0; left + 1 < count; left++) offer(left);
    for (let top = heapPop(heap); top !== undefined; top = heapPop(heap)) {
      const rank = Math.floor(top / positionRange);
      const left = top - rank * positionRange;
      const right = next[left] ?? count;
      // A pair that has changed since it was offered was offered again under its new rank.
      if (alive[left] === 0 || right >= count || this.#rank(ids[left], ids[right]) !== rank) continue;
      const after = next[right] ?? count;
      ids[left] = this.#mergedId[rank] ?? 0;
      ends[left] = ends[right] ?? 0;
      alive[right] = 0;
      next[left] = after;
      if (after < count) previous[after] = left;
      const before = previous[left] ?? -1;
      if (before >= 0) offer(before);
      offer(left);
    }
    const keep = (_: number, index: number) => alive[index] === 1;
    return { ids: ids.filter(keep), starts: starts.filter(keep), ends: ends.filter(keep) };
  }

  #rank(left: number | undefined, right: number | undefined): number | undefined {
    return this.#rankOfPair.get((left ?? 0) * this.#keyFactor + (right ?? 0));
  }
}

function cutMerge(merge: string): [string, string] {
  const space = merge.indexOf(" ");
  return [merge.slice(0, space), merge.slice(space + 1)];
}

/** Pairs of characters that stand next to each other across some merge; null when merges join bytes of one character. */
function jointsOf(merges: readonly (readonly [string, string])[]): ReadonlySet<number> | null {
  const joints = new Set<number>();
  for (const [left, right] of merges) {
    if (/^<0x[0-9A-F]{2}>/.test(right) || /<0x[0-9A-F]{2}>$/.test(left)) return null;
    joints.add(jointKey(lastPoint(left), right.codePointAt(0) ?? 0));
  }
  return joints;
}

function jointKey(left: number, right: number): number {
  return left * 0x110000 + right;
}

function lastPoint(text: string): number {
  const last = text.charCodeAt(text.length - 1);
  const isLowHalf = last >= 0xdc00 && last <= 0xdfff && text.length > 1;
  return text.codePointAt(text.length - (isLowHalf ? 2 : 1)) ?? 0;
}

const encoder = new TextEncoder();

function utf8(character: string): number[] {
  const code = character.charCodeAt(0);
  return code < 0x80 ? [code] : Array.from(encoder.encode(character));
}

function writeInAlphabet(piece: string): string {
  let written = "";
  for (const byte of encoder.encode(piece)) written += characterOfByte[byte] ?? "";
  return written;
}

function heapPush(heap: number[], key: number): void {
  let at = heap.length;
  heap.push(key);
  while (at > 0) {
    const parent = (at - 1) >> 1;
    const above = heap[parent] ?? 0;
    if (above <= key) break;
    heap[at] = above;
    at = parent;
  }
  heap[at] = key;
}

function heapPop(heap: number[]): number | undefined {
  const top = heap[0];
  const moved = heap.pop();
  if (top === undefined || moved === undefined || heap.length === 0) return top;
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && (heap[child + 1] ?? 0) < (heap[child] ?? 0)) child++;
    const below = heap[child] ?? 0;
    if (below >= moved) break;
    heap[at] = below;
    at = child;
  }
  heap[at] = moved;
  return top;
}
