/** Axes: round numbers that hold all values, three to five lines. Pure. */
export interface Axis {
  readonly low: number;
  readonly high: number;
  readonly ticks: readonly number[];
  /** Digits after the point that tell the ticks apart. */
  readonly digits: number;
}

const factors = [1, 2, 2.5, 5, 10] as const;

function stepFor(span: number, most: number): number {
  const rough = span / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  return (factors.find((factor) => factor * power >= rough * (1 - 1e-9)) ?? 10) * power;
}

/** An axis for what goes from `low` to `high`: it never cuts a value off. */
export function axisOf(low: number, high: number, most = 4): Axis {
  if (!Number.isFinite(low) || !Number.isFinite(high)) return { low: 0, high: 1, ticks: [0, 0.5, 1], digits: 1 };
  const largest = Math.max(Math.abs(low), Math.abs(high));
  // Values that differ in their last digits only are one value.
  const flat = high - low < Math.max(1e-12, 1e-9 * largest);
  const room = flat ? (largest < 1e-9 ? 0.01 : largest * 0.1) : 0;
  const step = stepFor(high - low + 2 * room, most);
  const first = Math.floor((low - room) / step + 1e-9);
  const last = Math.ceil((high + room) / step - 1e-9);
  const ticks = Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step);
  const digits = Math.max(0, ...ticks.map((tick) => digitsOf(tick, step)));
  return { low: first * step, high: last * step, ticks, digits };
}

/** Digits after the point that still fit beside an axis. */
const mostDigits = 4;

export function tickWords(tick: number, digits: number): string {
  const words =
    digits > mostDigits && tick !== 0
      ? tick.toExponential(1)
      : tick.toLocaleString("en-US", { minimumFractionDigits: Math.min(digits, mostDigits), maximumFractionDigits: Math.min(digits, mostDigits) });
  return words.replaceAll("-", "−");
}

/** Whole steps for the lower edge: 0, 50, 100 … without what would touch an end. */
export function stepTicks(from: number, to: number, most = 5): readonly number[] {
  if (to <= from) return [from];
  const step = Math.max(1, Math.round(stepFor(to - from, most)));
  const first = Math.ceil(from / step) * step;
  return Array.from({ length: Math.floor((to - first) / step) + 1 }, (_, index) => first + index * step);
}

function digitsOf(tick: number, step: number): number {
  for (let digits = 0; digits < 12; digits += 1) if (Math.abs(Number(tick.toFixed(digits)) - tick) < step * 1e-6) return digits;
  return 12;
}
