/** How numbers are held against reference values. Each returns the difference in words, or null. */
import { at, type Matrix } from "../../engine/algorithms/index.ts";

export function close(name: string, actual: number, expected: number, tolerance: number): string | null {
  return Math.abs(actual - expected) <= tolerance ? null : `${name} is ${actual}, expected ${expected} ± ${tolerance}`;
}

/** Largest absolute difference at the first `lengths[row] − 1` columns of each row. */
export function closeRows(name: string, actual: Matrix, expected: Matrix, lengths: readonly number[], tolerance: number): string | null {
  for (const [row, length] of lengths.entries()) {
    for (let column = 0; column < length - 1; column += 1) {
      const difference = close(
        `${name} of row ${row}, column ${column}`,
        at(actual.values, row * actual.width + column),
        at(expected.values, row * expected.width + column),
        tolerance,
      );
      if (difference !== null) return difference;
    }
  }
  return null;
}

/** Largest difference over the largest expected value. */
export function closeTensor(name: string, actual: ArrayLike<number>, expected: ArrayLike<number>, tolerance: number): string | null {
  if (actual.length !== expected.length) return `${name} has ${actual.length} values, expected ${expected.length}`;
  let largest = 0;
  let worst = 0;
  for (let index = 0; index < expected.length; index += 1) {
    largest = Math.max(largest, Math.abs(at(expected, index)));
    const difference = Math.abs(at(actual, index) - at(expected, index));
    // NaN must not pass.
    worst = difference >= 0 ? Math.max(worst, difference) : Number.POSITIVE_INFINITY;
  }
  const relative = worst / largest;
  return relative <= tolerance ? null : `${name} differs by ${relative.toExponential(2)} of its largest value, allowed ${tolerance}`;
}

/** The first difference of several. */
export function first(...differences: readonly (string | null)[]): string | null {
  return differences.find((difference) => difference !== null) ?? null;
}
