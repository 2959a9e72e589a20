/**
 * Rows of per-token numbers, right-padded to one width, and masked statistics over them. What stands in masked places
 * (NaN, infinity) never counts: sums skip it, they do not multiply by 0.
 */

export interface Matrix {
  readonly rows: number;
  readonly width: number;
  /** Row-major, `rows · width` numbers. */
  readonly values: Float64Array;
}

export function matrixLike(shape: Matrix): Matrix {
  return { rows: shape.rows, width: shape.width, values: new Float64Array(shape.values.length) };
}

/** Elements of a matrix or vector by index; reading outside is a bug of the caller. */
export function at(values: ArrayLike<number>, index: number): number {
  const value = values[index];
  if (value === undefined) throw new RangeError(`index ${index} lies outside ${values.length} values`);
  return value;
}

export function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high);
}

/** A new matrix with `value(i)` where the mask is 1 and 0 elsewhere. */
export function mapMasked(mask: Matrix, value: (index: number) => number): Matrix {
  const result = matrixLike(mask);
  for (let index = 0; index < mask.values.length; index += 1) if (mask.values[index] === 1) result.values[index] = value(index);
  return result;
}

/** Sum over the mask. */
export function maskedSum(mask: Matrix, value: (index: number) => number): number {
  let sum = 0;
  for (let index = 0; index < mask.values.length; index += 1) if (mask.values[index] === 1) sum += value(index);
  return sum;
}

export function maskTotal(mask: Matrix): number {
  return maskedSum(mask, () => 1);
}

/** Σxm / (Σm + 1e-8). */
export function maskedMean(mask: Matrix, value: (index: number) => number): number {
  return maskedSum(mask, value) / (maskTotal(mask) + 1e-8);
}

/** Share of masked-in tokens for which `holds`. */
export function maskedShare(mask: Matrix, holds: (index: number) => boolean): number {
  return maskedMean(mask, (index) => (holds(index) ? 1 : 0));
}

/** Tokens with mask 1 in each row. */
export function rowLengths(mask: Matrix): Float64Array {
  return rowSums(mask, () => 1);
}

/** Sum over the mask of each row. */
export function rowSums(mask: Matrix, value: (index: number) => number): Float64Array {
  const sums = new Float64Array(mask.rows);
  forEachMasked(mask, (index, row) => {
    sums[row] = at(sums, row) + value(index);
  });
  return sums;
}

export function forEachMasked(mask: Matrix, visit: (index: number, row: number) => void): void {
  for (let row = 0; row < mask.rows; row += 1) {
    for (let column = 0; column < mask.width; column += 1) {
      const index = row * mask.width + column;
      if (mask.values[index] === 1) visit(index, row);
    }
  }
}

/**
 * (x − mean)·rsqrt(var + 1e-8) over the whole batch, mean and Bessel-corrected variance over the mask; 0 where masked.
 * Throws RangeError when fewer than two tokens count: a variance of one number means nothing.
 */
export function whiten(values: Matrix, mask: Matrix): Matrix {
  const total = maskTotal(mask);
  if (total < 2) throw new RangeError(`whitening needs at least two trained tokens, there ${total === 1 ? "is one" : "are none"}`);
  const mean = maskedMean(mask, (index) => at(values.values, index));
  const variance = maskedMean(mask, (index) => (at(values.values, index) - mean) ** 2) * (total / (total - 1));
  const scale = 1 / Math.sqrt(variance + 1e-8);
  return mapMasked(mask, (index) => (at(values.values, index) - mean) * scale);
}
