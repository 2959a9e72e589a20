/** A recipe says which chunks make a body: runs of consecutive chunk keys, as pairs of varints (step from the last run's end, length). */

export interface ChunkRun {
  readonly first: number;
  readonly count: number;
}

/** Joins consecutive keys into runs and writes them. */
export function encodeRecipe(keys: readonly number[]): Uint8Array {
  const bytes: number[] = [];
  let expected = 0;
  for (const run of runsOf(keys)) {
    writeVarint(bytes, zigzag(run.first - expected));
    writeVarint(bytes, run.count);
    expected = run.first + run.count;
  }
  return Uint8Array.from(bytes);
}

export function decodeRecipe(recipe: Uint8Array): readonly ChunkRun[] {
  const runs: ChunkRun[] = [];
  const reader = { bytes: recipe, at: 0 };
  let expected = 0;
  while (reader.at < recipe.length) {
    const first = expected + unzigzag(readVarint(reader));
    const count = readVarint(reader);
    runs.push({ first, count });
    expected = first + count;
  }
  return runs;
}

function runsOf(keys: readonly number[]): readonly ChunkRun[] {
  const runs: { first: number; count: number }[] = [];
  for (const key of keys) {
    const last = runs.at(-1);
    if (last !== undefined && key === last.first + last.count) last.count += 1;
    else runs.push({ first: key, count: 1 });
  }
  return runs;
}

/** Keys stay below 2^53, so arithmetic instead of 32-bit shifts. */
function writeVarint(bytes: number[], value: number): void {
  let rest = value;
  while (rest >= 128) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
}

function readVarint(reader: { readonly bytes: Uint8Array; at: number }): number {
  let value = 0;
  let unit = 1;
  for (;;) {
    const byte = reader.bytes[reader.at];
    if (byte === undefined) throw new RangeError("a recipe ends inside a number");
    reader.at += 1;
    value += (byte % 128) * unit;
    if (byte < 128) return value;
    unit *= 128;
  }
}

function zigzag(value: number): number {
  return value < 0 ? -2 * value - 1 : 2 * value;
}

function unzigzag(value: number): number {
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
}
