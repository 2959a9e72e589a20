/** Draws curves on a canvas: grid, band, every seed faint, the mean on top with the dash and marker of its series. */
import { type Columns, type Domain, stepOfColumn } from "./columns.ts";
import type { Axis } from "./scale.ts";

export interface PaintedGroup {
  /** Place among the series, from 0: colour, dash and marker. */
  readonly slot: number;
  readonly seeds: readonly Columns[];
  readonly mean: Float64Array;
  readonly low: Float64Array;
  readonly high: Float64Array;
}

export interface Plot {
  /** In CSS pixels. */
  readonly width: number;
  readonly height: number;
  readonly domain: Domain;
  readonly axis: Axis;
  /** Columns of every painted group. */
  readonly count: number;
}

export interface Inks {
  readonly series: readonly string[];
  readonly grid: string;
  readonly surface: string;
}

export const seriesCount = 5;
export const dashes: readonly (readonly number[])[] = [[], [6, 3], [2, 3], [8, 3, 2, 3], [1, 4]];
/** Points this far apart (pixels) are shown one by one: evaluations, not steps. */
const farApart = 12;
const edge = 3;

export const xOf = ({ width, domain }: Pick<Plot, "width" | "domain">, step: number): number =>
  domain.to === domain.from ? width / 2 : edge + ((step - domain.from) / (domain.to - domain.from)) * (width - 2 * edge);
export const yOf = ({ height, axis }: Pick<Plot, "height" | "axis">, value: number): number =>
  height - edge - ((value - axis.low) / (axis.high - axis.low)) * (height - 2 * edge);

/** `context` is scaled so that one unit is one CSS pixel. */
export function paint(context: CanvasRenderingContext2D, plot: Plot, groups: readonly PaintedGroup[], inks: Inks): void {
  context.clearRect(0, 0, plot.width, plot.height);
  context.lineJoin = "round";
  context.strokeStyle = inks.grid;
  context.lineWidth = 1;
  context.setLineDash([]);
  for (const tick of plot.axis.ticks) {
    const y = Math.round(yOf(plot, tick)) + 0.5;
    context.beginPath();
    context.moveTo(0, y);
    context.lineTo(plot.width, y);
    context.stroke();
  }
  for (const group of groups) paintGroup(context, plot, group, inks);
  context.globalAlpha = 1;
}

function paintGroup(context: CanvasRenderingContext2D, plot: Plot, group: PaintedGroup, inks: Inks): void {
  const ink = inks.series[group.slot % seriesCount] ?? "gray";
  const xs = Array.from({ length: plot.count }, (_, column) => xOf(plot, stepOfColumn(plot.domain, plot.count, column)));
  const there = [...group.mean.keys()].filter((column) => !Number.isNaN(group.mean[column]));
  const at = (values: Float64Array, column: number): number => yOf(plot, values[column] ?? Number.NaN);
  context.fillStyle = ink;
  context.strokeStyle = ink;
  context.globalAlpha = 0.13;
  context.beginPath();
  for (const column of there) context.lineTo(xs[column] ?? 0, at(group.high, column));
  for (const column of [...there].reverse()) context.lineTo(xs[column] ?? 0, at(group.low, column));
  context.fill();
  if (group.seeds.length > 1) {
    context.globalAlpha = 0.34;
    context.lineWidth = 1;
    context.setLineDash([]);
    for (const seed of group.seeds) {
      context.beginPath();
      for (let column = 0; column < plot.count; column += 1) {
        if (Number.isNaN(seed.mean[column])) continue;
        context.lineTo(xs[column] ?? 0, at(seed.low, column));
        if (seed.high[column] !== seed.low[column]) context.lineTo(xs[column] ?? 0, at(seed.high, column));
      }
      context.stroke();
    }
  }
  context.globalAlpha = 1;
  context.lineWidth = 2;
  context.setLineDash([...(dashes[group.slot % seriesCount] ?? [])]);
  context.beginPath();
  for (const column of there) context.lineTo(xs[column] ?? 0, at(group.mean, column));
  context.stroke();
  context.setLineDash([]);
  const spread = (xs[there.at(-1) ?? 0] ?? 0) - (xs[there[0] ?? 0] ?? 0);
  const marked = spread >= farApart * (there.length - 1) ? there : there.slice(-1);
  for (const column of marked) mark(context, group.slot, xs[column] ?? 0, at(group.mean, column), inks.surface);
}

/** Disc, square, triangle, diamond, cross: series differ without colour too. */
function mark(context: CanvasRenderingContext2D, slot: number, x: number, y: number, surface: string): void {
  const shapes: readonly (readonly (readonly [number, number])[])[] = [
    [],
    [
      [-2.8, -2.8],
      [2.8, -2.8],
      [2.8, 2.8],
      [-2.8, 2.8],
    ],
    [
      [0, -3.8],
      [3.6, 2.6],
      [-3.6, 2.6],
    ],
    [
      [0, -4],
      [4, 0],
      [0, 4],
      [-4, 0],
    ],
  ];
  const shape = shapes[slot % seriesCount];
  context.beginPath();
  if (shape === undefined) {
    context.moveTo(x - 3, y - 3);
    context.lineTo(x + 3, y + 3);
    context.moveTo(x + 3, y - 3);
    context.lineTo(x - 3, y + 3);
    context.stroke();
    return;
  }
  if (shape.length === 0) context.arc(x, y, 3, 0, 2 * Math.PI);
  else for (const [dx, dy] of shape) context.lineTo(x + dx, y + dy);
  context.closePath();
  const ink = context.strokeStyle;
  context.lineWidth = 2;
  context.strokeStyle = surface;
  context.stroke();
  context.strokeStyle = ink;
  context.fill();
  context.lineWidth = 2;
}
