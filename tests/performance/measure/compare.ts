/**
 * A figure and its reference, taken in turns in the same run, so that what the machine does besides touches both.
 * A ratio travels between machines, a time does not.
 */

/** One line of a benchmark's result. `value` is the median of the repetitions, `min` and `max` its range. */
export interface BenchmarkRow {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** null = it could not be had here; the row's name says so. */
  readonly reference: { readonly name: string; readonly value: number } | null;
  /** value ÷ the reference's value; null without one. */
  readonly ratio: number | null;
  readonly min: number;
  readonly max: number;
  /** What is to be reached, in words. */
  readonly aim: string;
  readonly repetitions: number;
}

/** What a file in tests/performance exports under the name `benchmark`. `note` says what is going on. */
export type Benchmark = (note: (line: string) => void) => Promise<readonly BenchmarkRow[]>;

/** Measures once and gives the figure in the unit of its row. */
type Measure = () => number | Promise<number>;

export interface Comparison {
  readonly name: string;
  readonly unit: string;
  readonly aim: string;
  readonly measure: Measure;
  readonly reference: { readonly name: string; readonly measure: Measure } | null;
  /** At least five; default seven. */
  readonly repetitions?: number;
}

/** Measures both in turns, after one unmeasured turn of each. */
export async function compare({ name, unit, aim, measure, reference, repetitions = 7 }: Comparison): Promise<BenchmarkRow> {
  const values: number[] = [];
  const referenceValues: number[] = [];
  await measure();
  await reference?.measure();
  for (let repetition = 0; repetition < Math.max(5, repetitions); repetition++) {
    values.push(await measure());
    if (reference !== null) referenceValues.push(await reference.measure());
  }
  return rowOf({ name, unit, aim }, values, reference === null ? null : { name: reference.name, values: referenceValues });
}

/** The row of figures that were taken together with others, in turns with their reference. */
export function rowOf(
  { name, unit, aim }: Pick<Comparison, "name" | "unit" | "aim">,
  values: readonly number[],
  reference: { readonly name: string; readonly values: readonly number[] } | null,
): BenchmarkRow {
  const value = median(values);
  const beside = reference === null ? null : { name: reference.name, value: median(reference.values) };
  return {
    name,
    value,
    unit,
    reference: beside,
    ratio: beside === null ? null : value / beside.value,
    min: Math.min(...values),
    max: Math.max(...values),
    aim,
    repetitions: values.length,
  };
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** Units of work a second of `work`, which does `units` of them; run again until `seconds` have passed, so that the clock is exact enough. */
export function rate(units: number, work: () => void, seconds = 0.2): number {
  const started = performance.now();
  let rounds = 0;
  let elapsed = 0;
  do {
    work();
    rounds++;
    elapsed = performance.now() - started;
  } while (elapsed < seconds * 1000);
  return (units * rounds) / (elapsed / 1000);
}
