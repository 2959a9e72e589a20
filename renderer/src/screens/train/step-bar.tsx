import { type KeyboardEvent, useLayoutEffect, useMemo, useRef, useState } from "react";
import { columnCount, columnsOf, stepOfColumn } from "../../charts/columns.ts";
import { rewardStep } from "../../parts/reward-bar.tsx";
import type { TrainingRunView } from "../../service/views.ts";
import { reward as rewardText } from "../../words/numbers.ts";
import { curvesOf } from "./measures.ts";

const barPixels = 4;
const height = 34;

interface StepBarProps {
  readonly run: TrainingRunView;
  readonly selected: number | null;
  readonly onSelect: (step: number) => void;
}

function useWidth(): readonly [React.RefObject<HTMLDivElement | null>, number] {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [box, width];
}

/** Every step of a run, also those to come: height and shade are the mean reward. One tab stop; arrows go from step to step. */
export function StepBar({ run, selected, onSelect }: StepBarProps) {
  const [box, width] = useWidth();
  const last = run.points.at(-1)?.step ?? 0;
  const domain = useMemo(() => ({ from: 1, to: Math.max(1, run.steps, last) }), [run.steps, last]);
  const count = columnCount(domain, Math.max(1, width / barPixels));
  const bars = useMemo(() => columnsOf(curvesOf(run).reward, domain, count).mean, [run, domain, count]);
  const columnOf = (step: number): number => Math.min(count - 1, Math.floor(((step - 1) * count) / domain.to));
  const checkpoints = useMemo(() => run.points.filter((point) => point.checkpoint).map((point) => point.step), [run.points]);
  const marked = new Set(checkpoints.length > count / 3 ? [] : checkpoints.map(columnOf));
  const step = 1000 / count;
  const go = (to: number): void => {
    if (last > 0) onSelect(Math.max(1, Math.min(last, to)));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const by = { ArrowLeft: -1, ArrowRight: 1, PageDown: -10, PageUp: 10 }[event.key];
    const to = event.key === "Home" ? 1 : event.key === "End" ? last : by === undefined ? null : (selected ?? (by > 0 ? 0 : last + 1)) + by;
    if (to === null) return;
    event.preventDefault();
    go(to);
  };
  const chosen = run.points.find((point) => point.step === selected);
  return (
    <div className="flex-none px-3.5 pt-1.75 pb-1.5">
      <div className="flex items-center gap-2 text-2xs font-medium text-muted">
        <b className="text-xs text-fg">Steps</b>
        <span className="truncate">height and shade: mean reward of the batch</span>
        <span className="flex-1" />
        <span className="whitespace-nowrap">
          {marked.size > 0
            ? "▴ checkpoint"
            : checkpoints.length > 0
              ? `checkpoint at ${checkpoints.length === last ? "every step" : `${checkpoints.length} steps`}`
              : ""}
        </span>
      </div>
      <div
        ref={box}
        role="slider"
        tabIndex={0}
        aria-label="Step"
        aria-valuemin={1}
        aria-valuemax={Math.max(1, last)}
        aria-valuenow={selected ?? Math.max(1, last)}
        aria-valuetext={
          selected === null ? `no step is open, ${last} were made` : `step ${selected}, mean reward ${rewardText(chosen?.reward.mean ?? null)}`
        }
        className="mt-1 rounded-1"
        onKeyDown={onKeyDown}
        onClick={(event) => {
          const { left, width: wide } = event.currentTarget.getBoundingClientRect();
          go(Math.round(stepOfColumn(domain, count, Math.floor(((event.clientX - left) / wide) * count))));
        }}
      >
        <svg viewBox={`0 0 1000 ${height + 10}`} width="100%" height={height + 10} preserveAspectRatio="none" aria-hidden="true" className="block">
          {[...bars].map((mean, column) => {
            const tall = Number.isNaN(mean) ? 2 : Math.max(2, Math.max(0, Math.min(1, mean)) * height);
            return (
              <rect
                // biome-ignore lint/suspicious/noArrayIndexKey: columns are numbered
                key={column}
                x={column * step}
                y={height - tall}
                width={Math.max(0.5, step * 0.8)}
                height={tall}
                fill={Number.isNaN(mean) ? "var(--of-border-strong)" : rewardStep(mean).background}
                stroke={Number.isNaN(mean) ? "none" : "var(--of-border-control)"}
                strokeWidth=".5"
                vectorEffect="non-scaling-stroke"
              />
            );
          })}
          {[...marked].map((column) => (
            <path key={column} d={`M${(column + 0.4) * step} ${height + 3}l3 5h-6z`} fill="var(--of-text-muted)" />
          ))}
          {selected !== null && (
            <rect
              x={columnOf(selected) * step}
              y={0.75}
              width={Math.max(2, step * 0.8)}
              height={height}
              fill="none"
              stroke="var(--of-text)"
              strokeWidth="2"
              vectorEffect="non-scaling-stroke"
            />
          )}
        </svg>
      </div>
      <div className="flex justify-between text-2xs text-muted tabular-nums">
        <span>1</span>
        <span>{domain.to}</span>
      </div>
    </div>
  );
}
