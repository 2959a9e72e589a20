/** Says of most hashes that were never added, without asking the database, that they were not. Never says so of one that was. */

/** A megabyte: with 100,000 hashes one in 80 of the others is taken for known. */
const bits = 23;

interface HashFilter {
  /** Lower-case hex. */
  add(hash: string): void;
  mayHold(hash: string): boolean;
}

export function createHashFilter(): HashFilter {
  const words = new Uint32Array(2 ** (bits - 5));
  const slot = (hash: string): number => Number.parseInt(hash.slice(0, 8), 16) >>> (32 - bits);
  return {
    add(hash) {
      const at = slot(hash);
      words[at >>> 5] = (words[at >>> 5] ?? 0) | (1 << (at & 31));
    },
    mayHold(hash) {
      const at = slot(hash);
      return ((words[at >>> 5] ?? 0) & (1 << (at & 31))) !== 0;
    },
  };
}
