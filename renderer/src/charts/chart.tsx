import { type ReactNode, useLayoutEffect, useMemo, useRef, useState } from "react";
import { missing } from "../words/numbers.ts";
import { columnCount, type Domain, valueAt } from "./columns.ts";
import { axisFor, type ChartGroup, paintedGroup } from "./group.ts";
import { useInks } from "./inks.ts";
import { type PaintedGroup, type Plot, paint, xOf, yOf } from "./paint.ts";
import { stepTicks, tickWords } from "./scale.ts";
import { SeriesMark } from "./series-mark.tsx";

interface ChartProps {
  readonly title: string;
  /** Unit or definition, beside the title. */
  readonly about: string;
  readonly groups: readonly ChartGroup[];
  readonly domain: Domain;
  readonly format: (value: number) => string;
  /** Steps of the moving mean; 1 = none. */
  readonly smoothing: number;
  /** The step under the pointer, in any chart. */
  readonly cursor: number | null;
  readonly selected: number | null;
  readonly onCursor: (step: number | null) => void;
  readonly onSelect: (step: number) => void;
  /** Stands where the values are: a spike that leads to its step. */
  readonly aside?: ReactNode;
}

const gutter = 42;
const bottom = 18;

function useSize(): readonly [React.RefObject<HTMLDivElement | null>, { readonly width: number; readonly height: number }] {
  const box = useRef<HTMLDivElement>(null);
  const [size, setSize] = useState({ width: 0, height: 0 });
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => setSize({ width: element.clientWidth, height: element.clientHeight }));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [box, size];
}

function meanAt(group: ChartGroup, step: number): number {
  const values = group.curves.map((curve) => valueAt(curve, step)).filter((value) => !Number.isNaN(value));
  return values.length === 0 ? Number.NaN : values.reduce((sum, value) => sum + value, 0) / values.length;
}

function Readings({
  groups,
  step,
  format,
}: {
  readonly groups: readonly ChartGroup[];
  readonly step: number;
  readonly format: ChartProps["format"];
}) {
  return (
    <span className="flex min-w-0 items-center gap-2 overflow-hidden text-2xs font-medium text-secondary tabular-nums">
      {groups.map((group) => {
        const value = meanAt(group, step);
        return (
          <span key={group.slot} className="flex items-center gap-1" title={group.name}>
            <SeriesMark slot={group.slot} width={14} />
            {Number.isNaN(value) ? missing : format(value)}
          </span>
        );
      })}
    </span>
  );
}

function Curves({ plot, painted }: { readonly plot: Plot; readonly painted: readonly PaintedGroup[] }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const inks = useInks();
  useLayoutEffect(() => {
    const context = canvas.current?.getContext("2d") ?? null;
    if (canvas.current === null || context === null || plot.width <= 0 || plot.height <= 0) return;
    const ratio = window.devicePixelRatio;
    canvas.current.width = Math.round(plot.width * ratio);
    canvas.current.height = Math.round(plot.height * ratio);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    paint(context, plot, painted, inks);
  }, [plot, painted, inks]);
  return <canvas ref={canvas} className="absolute top-0" style={{ left: gutter, width: plot.width, height: plot.height }} />;
}

/** A measure over steps. The pointer reads every chart at its step; a click opens the step. (By keyboard: the step bar.) */
export function Chart(props: ChartProps) {
  const { title, about, groups, domain, format, smoothing, cursor, selected, onCursor, onSelect, aside } = props;
  const [box, size] = useSize();
  const width = Math.max(0, size.width - gutter);
  const height = Math.max(0, size.height - bottom);
  const count = columnCount(domain, Math.max(1, width));
  const painted = useMemo(() => groups.map((group) => paintedGroup(group, domain, count, smoothing)), [groups, domain, count, smoothing]);
  const axis = useMemo(() => axisFor(painted), [painted]);
  const plot = useMemo<Plot>(() => ({ width, height, domain, axis, count }), [width, height, domain, axis, count]);
  const isEmpty = painted.every((group) => group.mean.every(Number.isNaN));
  const shown = cursor ?? selected;
  const stepAt = (event: React.PointerEvent | React.MouseEvent): number => {
    const left = event.currentTarget.getBoundingClientRect().left + gutter;
    const share = width <= 0 ? 0 : (event.clientX - left) / width;
    return Math.max(domain.from, Math.min(domain.to, Math.round(domain.from + share * (domain.to - domain.from))));
  };
  const said = groups
    .map((group) => `${group.name} ${Number.isNaN(meanAt(group, domain.to)) ? missing : format(meanAt(group, domain.to))}`)
    .join(", ");
  return (
    <figure className="m-0 flex min-h-0 min-w-0 flex-col border-r border-b border-line pt-2 pr-2.5 pb-1 pl-3">
      <figcaption className="flex h-6 flex-none items-center gap-2 text-xs whitespace-nowrap">
        <b>{title}</b>
        <span className="truncate text-2xs text-muted">{about}</span>
        <span className="flex-1" />
        {aside ?? <Readings groups={groups} step={cursor ?? selected ?? domain.to} format={format} />}
      </figcaption>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the step bar does this by keyboard */}
      <div
        ref={box}
        role="img"
        aria-label={`${title}, ${about}: ${said === "" ? "no values yet" : said}`}
        className="relative min-h-24 flex-1 overflow-hidden"
        onPointerMove={(event) => onCursor(stepAt(event))}
        onPointerLeave={() => onCursor(null)}
        onClick={(event) => onSelect(stepAt(event))}
      >
        <Curves plot={plot} painted={painted} />
        {isEmpty && (
          <span className="absolute inset-0 grid place-items-center text-2xs text-muted" style={{ left: gutter, bottom }}>
            no values yet
          </span>
        )}
        {(isEmpty ? [] : axis.ticks).map((tick) => (
          <span
            key={tick}
            className="absolute left-0 w-9 -translate-y-1/2 text-right text-3xs text-(--of-axis) tabular-nums"
            style={{ top: Math.min(height - 4, Math.max(6, yOf(plot, tick))) }}
          >
            {tickWords(tick, axis.digits)}
          </span>
        ))}
        {stepTicks(domain.from, domain.to).map((tick) => (
          <span
            key={tick}
            className="absolute bottom-0 -translate-x-1/2 text-3xs text-(--of-axis) tabular-nums"
            style={{ left: gutter + Math.max(4, Math.min(width - 10, xOf(plot, tick))) }}
          >
            {tick}
          </span>
        ))}
        {shown !== null && (
          <span
            className="pointer-events-none absolute top-0 border-l border-dashed border-fg"
            style={{ left: gutter + xOf(plot, Math.max(domain.from, Math.min(domain.to, shown))), height }}
          />
        )}
      </div>
    </figure>
  );
}
