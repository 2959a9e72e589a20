/**
 * Where the parts of a JSON text stand in its bytes. Only for text that JSON.parse has accepted: nothing is checked again. Strings are
 * skipped by searching for their end, so that long texts cost little.
 */

/** Half-open. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;

export function skipSpace(bytes: Uint8Array, from: number): number {
  let position = from;
  while ((bytes[position] ?? 0x7f) <= 0x20) position += 1;
  return position;
}

/** Position after the string that starts at `start`. */
function stringEnd(bytes: Uint8Array, start: number): number {
  let position = start + 1;
  for (;;) {
    const found = bytes.indexOf(quote, position);
    let backslashes = 0;
    while (bytes[found - 1 - backslashes] === backslash) backslashes += 1;
    if (backslashes % 2 === 0) return found + 1;
    position = found + 1;
  }
}

/** Position after the value that starts at `start`. */
function valueEnd(bytes: Uint8Array, start: number): number {
  let depth = 0;
  let position = start;
  for (;;) {
    const byte = bytes[position];
    if (byte === quote) {
      position = stringEnd(bytes, position);
      if (depth === 0) return position;
      continue;
    }
    if (byte === 0x7b || byte === 0x5b) depth += 1;
    else if (byte === 0x7d || byte === 0x5d) {
      depth -= 1;
      if (depth <= 0) return depth < 0 ? position : position + 1;
    } else if (depth === 0 && (byte === undefined || byte === comma || byte <= 0x20)) return position;
    position += 1;
  }
}

/** Ends of the items of an array, from `start` (after its bracket or after a comma) to its closing bracket, and where that is. */
export function scanItems(bytes: Uint8Array, start: number): { readonly ends: readonly number[]; readonly close: number } {
  const ends: number[] = [];
  let position = skipSpace(bytes, start);
  while (bytes[position] !== 0x5d) {
    const end = valueEnd(bytes, position);
    ends.push(end);
    position = skipSpace(bytes, end);
    if (bytes[position] === comma) position = skipSpace(bytes, position + 1);
  }
  return { ends, close: position };
}

/**
 * Members of an object, from `start` (after its brace, or after a comma) to its closing brace. A repeated name has its last value;
 * `members` is added to.
 */
export function scanMembers(bytes: Uint8Array, start: number, members: Map<string, ByteRange>): void {
  let position = skipSpace(bytes, start);
  while (bytes[position] === quote) {
    const nameEnd = stringEnd(bytes, position);
    const name = nameOf(bytes, position, nameEnd);
    const from = skipSpace(bytes, skipSpace(bytes, nameEnd) + 1);
    const end = valueEnd(bytes, from);
    members.set(name, { start: from, end });
    position = skipSpace(bytes, end);
    if (bytes[position] === comma) position = skipSpace(bytes, position + 1);
  }
}

function nameOf(bytes: Uint8Array, start: number, end: number): string {
  return String(JSON.parse(textOf(bytes.subarray(start, end))));
}

export function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
}
