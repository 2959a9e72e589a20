/**
 * Finds any of many byte strings in one pass. Proof of completeness: let `stride = shortest − 3`. An occurrence at p covers at least
 * [p, p + shortest); exactly one multiple of the stride lies in [p, p + stride), and the four bytes there lie inside the occurrence, at
 * an offset below the stride. So it is enough to look at every stride-th position whether its four bytes are a known quadruple of some
 * needle at such an offset, and to compare that needle in full. With hundreds of long secrets a 20 KB body costs some microseconds.
 */

export interface Needle {
  readonly name: string;
  readonly bytes: Uint8Array;
}

interface Match {
  readonly start: number;
  readonly end: number;
  readonly name: string;
}

export type Scanner = (text: Uint8Array) => readonly Match[];

const quadruple = 4;
const filterBits = 16;
/** Longer strides gain nothing more and would make the table of quadruples large. */
const widestStride = 32;

/** Builds a scanner for needles of at least six bytes each. Matches come sorted and merged where they overlap or touch. */
export function createScanner(needles: readonly Needle[]): Scanner {
  if (needles.length === 0) return () => [];
  const shortest = needles.reduce((least, needle) => Math.min(least, needle.bytes.length), Number.POSITIVE_INFINITY);
  const stride = Math.min(widestStride, shortest - quadruple + 1);
  const filter = new Uint8Array(1 << filterBits);
  const candidates = new Map<number, { readonly needle: Needle; readonly offset: number }[]>();
  for (const needle of needles) {
    for (let offset = 0; offset < stride; offset++) {
      const word = wordAt(needle.bytes, offset);
      filter[slot(word)] = 1;
      const known = candidates.get(word);
      if (known === undefined) candidates.set(word, [{ needle, offset }]);
      else known.push({ needle, offset });
    }
  }

  return (text) => {
    const matches: Match[] = [];
    const last = text.length - quadruple;
    for (let at = 0; at <= last; at += stride) {
      const word = wordAt(text, at);
      if (filter[slot(word)] === 0) continue;
      for (const { needle, offset } of candidates.get(word) ?? []) {
        const start = at - offset;
        if (start >= 0 && standsAt(text, start, needle.bytes)) matches.push({ start, end: start + needle.bytes.length, name: needle.name });
      }
    }
    return matches.length > 1 ? merge(matches) : matches;
  };
}

function wordAt(bytes: Uint8Array, at: number): number {
  return ((bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24)) >>> 0;
}

function slot(word: number): number {
  return Math.imul(word, 0x9e3779b1) >>> (32 - filterBits);
}

function standsAt(text: Uint8Array, start: number, needle: Uint8Array): boolean {
  if (start + needle.length > text.length) return false;
  for (let index = 0; index < needle.length; index++) if (text[start + index] !== needle[index]) return false;
  return true;
}

/** Two secrets side by side stay two matches; where they overlap the union takes the name of the first. */
function merge(matches: readonly Match[]): readonly Match[] {
  const sorted = [...matches].sort((a, b) => a.start - b.start || b.end - a.end);
  const merged: Match[] = [];
  for (const match of sorted) {
    const before = merged.at(-1);
    if (before === undefined || match.start >= before.end) merged.push(match);
    else if (match.end > before.end) merged[merged.length - 1] = { ...before, end: match.end };
  }
  return merged;
}
