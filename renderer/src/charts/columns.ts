/**
 * Curves of any length as columns of a picture: as many as there are pixels, or one a step where there are fewer steps. Lowest and
 * highest of a column are kept, so that no spike is lost by drawing less. Pure.
 */

/** Steps ascending; a missing value is NaN, never 0. */
export interface Curve {
  readonly steps: Float64Array;
  readonly values: Float64Array;
  /** Ends of the interval of each value, where it has one. */
  readonly ends: { readonly low: Float64Array; readonly high: Float64Array } | null;
}

/** First and last step of a picture. */
export interface Domain {
  readonly from: number;
  readonly to: number;
}

/** One entry a column, NaN where there is nothing. */
export interface Columns {
  readonly mean: Float64Array;
  readonly low: Float64Array;
  readonly high: Float64Array;
}

export const columnCount = ({ from, to }: Domain, pixels: number): number => Math.max(1, Math.min(Math.floor(pixels), to - from + 1));

/** The step in the middle of a column. */
export const stepOfColumn = ({ from, to }: Domain, count: number, column: number): number => from + ((column + 0.5) * (to - from + 1)) / count - 0.5;

function filled(count: number, value: number): Float64Array {
  return new Float64Array(count).fill(value);
}

/** So many points are summed up once; a redraw of a long curve goes over these. */
const blockLength = 8;
/** A column must hold several blocks: then one at its edge is off by little. */
const blocksPerColumn = 4;

/** Runs of points: where they are, their sum, how many are there, their extremes. */
interface Points {
  readonly steps: Float64Array;
  readonly sums: Float64Array;
  readonly seen: Float64Array;
  readonly low: Float64Array;
  readonly high: Float64Array;
}

const summed = new WeakMap<Curve, Points>();

function blocksOf(curve: Curve): Points {
  const known = summed.get(curve);
  if (known !== undefined) return known;
  const { steps, values } = curve;
  const count = Math.ceil(steps.length / blockLength);
  const blocks = {
    steps: filled(count, 0),
    sums: filled(count, 0),
    seen: filled(count, 0),
    low: filled(count, Number.NaN),
    high: filled(count, Number.NaN),
  };
  for (let index = 0; index < steps.length; index += 1) {
    const block = Math.floor(index / blockLength);
    const middle = Math.min(steps.length - 1, block * blockLength + blockLength / 2);
    blocks.steps[block] = steps[middle] as number;
    const value = values[index] as number;
    if (Number.isFinite(value)) add(blocks, block, value, 1, value, value);
  }
  summed.set(curve, blocks);
  return blocks;
}

function add(into: Omit<Points, "steps">, at: number, sum: number, seen: number, low: number, high: number): void {
  into.sums[at] = (into.sums[at] as number) + sum;
  into.seen[at] = (into.seen[at] as number) + seen;
  if (!(low >= (into.low[at] as number))) into.low[at] = low;
  if (!(high <= (into.high[at] as number))) into.high[at] = high;
}

export function columnsOf(curve: Curve, domain: Domain, count: number): Columns {
  const columns = { sums: filled(count, 0), seen: filled(count, 0), low: filled(count, Number.NaN), high: filled(count, Number.NaN) };
  const scale = count / (domain.to - domain.from + 1);
  const columnOf = (step: number): number => Math.min(count - 1, Math.floor((step - domain.from) * scale));
  const inside = (step: number): boolean => step >= domain.from && step <= domain.to;
  if (scale * blockLength * blocksPerColumn <= 1) {
    const { steps, sums, seen, low, high } = blocksOf(curve);
    for (let block = 0; block < steps.length; block += 1) {
      const step = steps[block] as number;
      if ((seen[block] as number) > 0 && inside(step))
        add(columns, columnOf(step), sums[block] as number, seen[block] as number, low[block] as number, high[block] as number);
    }
  } else {
    const { steps, values } = curve;
    for (let index = 0; index < steps.length; index += 1) {
      const step = steps[index] as number;
      const value = values[index] as number;
      if (Number.isFinite(value) && inside(step)) add(columns, columnOf(step), value, 1, value, value);
    }
  }
  const { sums, seen, low, high } = columns;
  return { mean: sums.map((total, column) => ((seen[column] as number) > 0 ? total / (seen[column] as number) : Number.NaN)), low, high };
}

/** Centred moving mean over `window` columns; what is missing is skipped and stays missing. */
export function smoothed(values: Float64Array, window: number): Float64Array {
  const before = Math.floor((Math.max(1, window) - 1) / 2);
  const after = Math.max(1, window) - 1 - before;
  if (before + after === 0) return values;
  const sums = new Float64Array(values.length + 1);
  const counts = new Float64Array(values.length + 1);
  values.forEach((value, index) => {
    const there = !Number.isNaN(value);
    sums[index + 1] = (sums[index] as number) + (there ? value : 0);
    counts[index + 1] = (counts[index] as number) + Number(there);
  });
  return values.map((value, index) => {
    if (Number.isNaN(value)) return value;
    const from = Math.max(0, index - before);
    const to = Math.min(values.length, index + after + 1);
    return ((sums[to] as number) - (sums[from] as number)) / ((counts[to] as number) - (counts[from] as number));
  });
}

/** Mean over curves of a column, and the lowest and highest of all. */
export function together(all: readonly Columns[]): Columns {
  const count = all[0]?.mean.length ?? 0;
  const mean = filled(count, Number.NaN);
  const low = filled(count, Number.NaN);
  const high = filled(count, Number.NaN);
  for (let column = 0; column < count; column += 1) {
    let sum = 0;
    let seen = 0;
    for (const each of all) {
      const value = each.mean[column] as number;
      if (Number.isNaN(value)) continue;
      sum += value;
      seen += 1;
      if (!((each.low[column] as number) >= (low[column] as number))) low[column] = each.low[column] as number;
      if (!((each.high[column] as number) <= (high[column] as number))) high[column] = each.high[column] as number;
    }
    if (seen > 0) mean[column] = sum / seen;
  }
  return { mean, low, high };
}

/** The value at a step, or the last one before it; NaN when there is none. */
export function valueAt({ steps, values }: Curve, step: number): number {
  let low = 0;
  let high = steps.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    if ((steps[middle] as number) <= step) low = middle + 1;
    else high = middle - 1;
  }
  for (let index = high; index >= 0; index -= 1) if (!Number.isNaN(values[index] as number)) return values[index] as number;
  return Number.NaN;
}

/** The step whose value lies furthest from the median, if that is far beyond what is usual on this curve. */
export function spikeOf({ steps, values }: Curve): number | null {
  const known = values.filter((value) => Number.isFinite(value)).sort();
  if (known.length < 12) return null;
  const median = known[known.length >> 1] as number;
  const distances = known.map((value) => Math.abs(value - median)).sort();
  const usual = distances[distances.length >> 1] as number;
  let far = -1;
  values.forEach((value, index) => {
    if (Number.isFinite(value) && (far === -1 || Math.abs(value - median) > Math.abs((values[far] as number) - median))) far = index;
  });
  const distance = far === -1 ? 0 : Math.abs((values[far] as number) - median);
  return usual > 0 && distance > 12 * usual ? (steps[far] as number) : null;
}
