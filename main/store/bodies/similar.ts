/**
 * Bodies of one rollout repeat the one before: the same start, a few new messages, the same end. A body is written to the journal as
 * extents, ranges of the journal file in order, of which only the middle is new. Extents are resolved when written: no chain to follow.
 */

/** A range of bytes in a journal file. */
export interface Extent {
  readonly offset: number;
  readonly length: number;
}

/** A body that was written, with where its bytes stand. */
export interface WrittenBody {
  readonly bytes: Uint8Array;
  readonly extents: readonly Extent[];
}

export interface Plan {
  /** What stands in the journal already, before and after the new part. */
  readonly before: readonly Extent[];
  readonly after: readonly Extent[];
  readonly literal: Uint8Array;
}

/** Sharing less than this saves nothing. */
const leastShared = 1024;
/** A body in more pieces is written whole again. */
const mostExtents = 256;

export function planBody(bytes: Uint8Array, previous: WrittenBody | null): Plan {
  const whole: Plan = { before: [], after: [], literal: bytes };
  if (previous === null) return whole;
  const prefix = commonPrefix(bytes, previous.bytes);
  const suffix = commonSuffix(bytes, previous.bytes, Math.min(bytes.length, previous.bytes.length) - prefix);
  if (prefix + suffix < leastShared) return whole;
  const before = slice(previous.extents, 0, prefix);
  const after = slice(previous.extents, previous.bytes.length - suffix, previous.bytes.length);
  if (before.length + after.length + 1 > mostExtents) return whole;
  return { before, after, literal: bytes.subarray(prefix, bytes.length - suffix) };
}

/** The extents of bytes `from` (inclusive) to `to` of a body. */
function slice(extents: readonly Extent[], from: number, to: number): readonly Extent[] {
  const part: Extent[] = [];
  let start = 0;
  for (const extent of extents) {
    const left = Math.max(from, start);
    const right = Math.min(to, start + extent.length);
    if (right > left) part.push({ offset: extent.offset + left - start, length: right - left });
    start += extent.length;
  }
  return part;
}

/** Native comparison of growing blocks, then halving inside the first block that differs: two passes of memcmp at most. */
function commonPrefix(left: Uint8Array, right: Uint8Array): number {
  const most = Math.min(left.length, right.length);
  const equal = (from: number, to: number) => Buffer.compare(left.subarray(from, to), right.subarray(from, to)) === 0;
  return longestEqual(most, equal);
}

function commonSuffix(left: Uint8Array, right: Uint8Array, most: number): number {
  const equal = (from: number, to: number) =>
    Buffer.compare(left.subarray(left.length - to, left.length - from), right.subarray(right.length - to, right.length - from)) === 0;
  return longestEqual(most, equal);
}

function longestEqual(most: number, equal: (from: number, to: number) => boolean): number {
  let known = 0;
  let step = 512;
  while (known < most && equal(known, Math.min(most, known + step))) {
    known = Math.min(most, known + step);
    step = Math.min(step * 2, 65_536);
  }
  let differs = Math.min(most, known + step) + 1;
  while (known + 1 < differs) {
    const middle = Math.floor((known + differs) / 2);
    if (equal(known, middle)) known = middle;
    else differs = middle;
  }
  return known;
}
