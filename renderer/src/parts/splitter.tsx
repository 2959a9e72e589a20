import { useRef } from "react";
import { setSize, useWorkspace } from "../state/workspace.ts";

interface SizeRule {
  readonly name: string;
  readonly initial: number;
  readonly least: number;
  readonly most: number;
}

/** The stored size of a pane, inside its limits. */
export function usePaneSize({ name, initial, least, most }: SizeRule): number {
  const stored = useWorkspace((state) => state.sizes[name]);
  return Math.min(most, Math.max(least, stored ?? initial));
}

interface SplitterProps extends SizeRule {
  /** Where the sized pane lies, seen from the line. */
  readonly side: "left" | "right" | "below";
  readonly label: string;
}

const arrowStep = 16;

/** A line of 1 px with 7 px to grab. Arrows move 16 px, a double click resets, the size is kept. */
export function Splitter(rule: SplitterProps) {
  const { name, side, label, least, most } = rule;
  const size = usePaneSize(rule);
  const drag = useRef<{ readonly at: number; readonly size: number } | null>(null);
  const vertical = side !== "below";
  const sign = side === "left" ? 1 : -1;
  const grow = (by: number): void => setSize(name, Math.min(most, Math.max(least, size + by)));
  const place = (event: React.PointerEvent): number => (vertical ? event.clientX : event.clientY);
  const look = vertical
    ? "w-0 cursor-col-resize before:inset-y-0 before:-left-[3px] before:w-[7px]"
    : "h-0 cursor-row-resize before:inset-x-0 before:-top-[3px] before:h-[7px]";
  return (
    // biome-ignore lint/a11y/useSemanticElements: a separator that moves is a widget; hr cannot take the focus
    <div
      role="separator"
      tabIndex={0}
      aria-label={label}
      aria-orientation={vertical ? "vertical" : "horizontal"}
      aria-valuenow={Math.round(size)}
      aria-valuemin={least}
      aria-valuemax={most}
      className={`relative z-10 flex-none touch-none before:absolute before:content-[''] hover:before:bg-accent/25 focus-visible:before:bg-accent/40 focus-visible:outline-none ${look}`}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        drag.current = { at: place(event), size };
      }}
      onPointerMove={(event) => {
        if (drag.current !== null) setSize(name, Math.min(most, Math.max(least, drag.current.size + sign * (place(event) - drag.current.at))));
      }}
      onPointerUp={() => {
        drag.current = null;
      }}
      onDoubleClick={() => setSize(name, null)}
      onKeyDown={(event) => {
        const forward = vertical ? "ArrowRight" : "ArrowDown";
        const back = vertical ? "ArrowLeft" : "ArrowUp";
        if (event.key !== forward && event.key !== back) return;
        event.preventDefault();
        grow((event.key === forward ? 1 : -1) * sign * arrowStep);
      }}
    />
  );
}
