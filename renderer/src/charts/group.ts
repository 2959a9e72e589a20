/** From curves to what is painted: columns, their mean over the seeds, the band around it. Pure but for a memory of columns. */
import { type Columns, type Curve, columnsOf, type Domain, smoothed, together } from "./columns.ts";
import type { PaintedGroup } from "./paint.ts";
import { type Axis, axisOf } from "./scale.ts";

export interface ChartGroup {
  readonly name: string;
  readonly slot: number;
  /** One a seed. */
  readonly curves: readonly Curve[];
}

/** A curve that did not change is not put into columns again: appending to one run costs that run alone. */
const kept = new WeakMap<Curve, { readonly key: string; readonly columns: Columns; readonly band: Columns | null }>();

function columnsFor(curve: Curve, domain: Domain, count: number): { readonly columns: Columns; readonly band: Columns | null } {
  const key = `${domain.from}/${domain.to}/${count}`;
  const known = kept.get(curve);
  if (known?.key === key) return known;
  const { steps, ends } = curve;
  const band = ends && {
    mean: new Float64Array(0),
    low: columnsOf({ steps, values: ends.low, ends: null }, domain, count).low,
    high: columnsOf({ steps, values: ends.high, ends: null }, domain, count).high,
  };
  const made = { key, columns: columnsOf(curve, domain, count), band };
  kept.set(curve, made);
  return made;
}

/** The mean of the seeds, smoothed; around it the raw extremes, or the interval where one seed has one. */
export function paintedGroup({ slot, curves }: ChartGroup, domain: Domain, count: number, smoothing: number): PaintedGroup {
  const each = curves.map((curve) => columnsFor(curve, domain, count));
  const all = together(each.map(({ columns }) => columns));
  const window = Math.round((smoothing * count) / (domain.to - domain.from + 1));
  const interval = each.length === 1 ? each[0]?.band : null;
  return {
    slot,
    seeds: each.map(({ columns }) => columns),
    mean: smoothed(all.mean, window),
    low: interval?.low ?? all.low,
    high: interval?.high ?? all.high,
  };
}

export function axisFor(groups: readonly PaintedGroup[]): Axis {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const group of groups) {
    for (const value of group.low) if (value < low) low = value;
    for (const value of group.high) if (value > high) high = value;
  }
  return axisOf(low, high);
}
