/** A mini-batch cut into pieces that fit memory, each in a bucket of few sizes, since every size is a graph of its own. */
import { type Placement, packIntoRows } from "./placement.ts";

/** Widths of buckets, in positions. */
export const bucketWidths: readonly number[] = [32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16_384, 32_768];

export interface MicroBatch {
  /** Indices of the mini-batch's sequences. */
  readonly members: readonly number[];
  readonly placement: Placement;
}

export interface MicroBatchPlan {
  readonly batches: readonly MicroBatch[];
  /** Sequences that are longer than the limit and take no part. */
  readonly tooLong: readonly number[];
}

/** `positions`: of one piece at most, unless one sequence alone needs more; `longest`: tokens of a sequence at most. */
export interface BatchLimits {
  readonly positions: number;
  readonly longest: number;
}

/** The size of batch that takes the most memory: rows of the longest sequences. */
export function largestBatch({ positions, longest }: BatchLimits): { readonly rows: number; readonly width: number } {
  const width = bucketFor(longest - 1);
  return { rows: Math.max(1, Math.floor(positions / width)), width };
}

/**
 * Longest first: each piece takes the bucket of its longest sequence and is filled with shorter ones, several a row.
 */
export function planMicroBatches(lengths: readonly number[], limits: BatchLimits): MicroBatchPlan {
  const tooLong = lengths.flatMap((length, index) => (length > limits.longest ? [index] : []));
  const order = lengths.map((_length, index) => index).filter((index) => (lengths[index] ?? 0) <= limits.longest);
  const rest = order.toSorted((left, right) => (lengths[right] ?? 0) - (lengths[left] ?? 0) || left - right);
  const batches: MicroBatch[] = [];
  while (rest.length > 0) {
    const width = bucketFor((lengths[rest[0] ?? 0] ?? 0) - 1);
    const mostRows = Math.max(1, Math.floor(limits.positions / width));
    const free: number[] = [];
    const members: number[] = [];
    for (let index = 0; index < rest.length; ) {
      const sequence = rest[index] ?? 0;
      const needed = (lengths[sequence] ?? 0) - 1;
      let row = free.findIndex((room) => room >= needed);
      if (row < 0 && free.length < mostRows) row = free.push(width) - 1;
      if (row < 0) {
        index += 1;
        continue;
      }
      free[row] = (free[row] ?? 0) - needed;
      members.push(sequence);
      rest.splice(index, 1);
    }
    // A power of two of rows, so that there are few sizes.
    const rows = Math.min(mostRows, 2 ** Math.ceil(Math.log2(free.length)));
    batches.push({
      members,
      placement: packIntoRows(
        members.map((member) => lengths[member] ?? 0),
        { rows, width },
      ),
    });
  }
  return { batches, tooLong };
}

function bucketFor(positions: number): number {
  const width = bucketWidths.find((candidate) => candidate >= positions);
  if (width === undefined) throw new RangeError(`there is no bucket for ${positions} positions`);
  return width;
}
