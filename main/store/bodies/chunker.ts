/**
 * Content-defined chunking (gear hash, after FastCDC). A boundary depends only on the 32 bytes before it, so a body that grew by a
 * message is cut as before up to the change. Sizes were measured on chat bodies growing to 100k tokens: 4 KB on average keeps the
 * changed tail of each call small, and the compressor, which sees chunks in groups, removes what near-equal tails share.
 * The table and the sizes are part of the format only for deduplication: a reader needs neither.
 */

export const chunkSizes = { least: 1024, average: 4096, most: 16384 } as const;

const gear = gearTable();
/** Before the average size a boundary is harder to meet than after it; sizes then gather around the average. */
const strictMask = highBits(13);
const looseMask = highBits(11);

/** End offset of the chunk that starts at `start`. */
export function chunkEnd(bytes: Uint8Array, start: number): number {
  const end = Math.min(bytes.length, start + chunkSizes.most);
  const middle = Math.min(end, start + chunkSizes.average);
  let at = Math.min(end, start + chunkSizes.least);
  let hash = 0;
  for (; at < middle; at++) {
    hash = ((hash << 1) + (gear[bytes[at] as number] as number)) | 0;
    if ((hash & strictMask) === 0) return at + 1;
  }
  for (; at < end; at++) {
    hash = ((hash << 1) + (gear[bytes[at] as number] as number)) | 0;
    if ((hash & looseMask) === 0) return at + 1;
  }
  return end;
}

/** 256 fixed pseudo-random words (xorshift). */
function gearTable(): Int32Array {
  const table = new Int32Array(256);
  let state = 0x2545f491;
  for (let index = 0; index < table.length; index++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    table[index] = state;
  }
  return table;
}

function highBits(count: number): number {
  return (((1 << count) - 1) << (32 - count)) | 0;
}
