/** Where sequences lie in the rows of a bucket. A sequence of n tokens takes n − 1 positions: its last token is only ever a target. */

export interface Place {
  readonly row: number;
  /** First position in the row. */
  readonly start: number;
  /** Positions: tokens less one. */
  readonly length: number;
}

export interface Placement {
  readonly rows: number;
  readonly width: number;
  /** One for each sequence, in their order. */
  readonly places: readonly Place[];
  /** Some row holds several sequences. */
  readonly packed: boolean;
}

/** Each sequence in a row of its own. */
export function placeInRows(lengths: readonly number[], bucket: { readonly rows: number; readonly width: number }): Placement {
  return { ...bucket, places: lengths.map((length, row) => checked({ row, start: 0, length: length - 1 }, bucket)), packed: false };
}

/** Several sequences a row, longest first into the first row with room. Throws RangeError when they do not fit. */
export function packIntoRows(lengths: readonly number[], bucket: { readonly rows: number; readonly width: number }): Placement {
  const free = Array<number>(bucket.rows).fill(bucket.width);
  const order = lengths.map((_length, index) => index).toSorted((left, right) => (lengths[right] ?? 0) - (lengths[left] ?? 0));
  const places: Place[] = [];
  for (const index of order) {
    const length = (lengths[index] ?? 0) - 1;
    const row = free.findIndex((room) => room >= length);
    places[index] = checked({ row: row < 0 ? bucket.rows : row, start: bucket.width - (free[row] ?? 0), length }, bucket);
    free[row] = (free[row] ?? 0) - length;
  }
  return { ...bucket, places, packed: places.some(({ start }) => start > 0) };
}

function checked(place: Place, bucket: { readonly rows: number; readonly width: number }): Place {
  if (place.length < 1) throw new RangeError("a sequence of one token has nothing to predict");
  if (place.row >= bucket.rows || place.start + place.length > bucket.width) {
    throw new RangeError(`a sequence of ${place.length + 1} tokens does not fit into ${bucket.rows} rows of ${bucket.width}`);
  }
  return place;
}
