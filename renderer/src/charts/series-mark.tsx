import { dashes, seriesCount } from "./paint.ts";

/** The line of a series as its curves are drawn. */
export function SeriesMark({ slot, width = 20 }: { readonly slot: number; readonly width?: number }) {
  const place = slot % seriesCount;
  return (
    <svg width={width} height="8" aria-hidden="true" className="flex-none">
      <line
        x1="0"
        x2={width}
        y1="4"
        y2="4"
        stroke={`var(--of-series-${place + 1})`}
        strokeWidth="2"
        strokeDasharray={(dashes[place] ?? []).join(" ")}
      />
    </svg>
  );
}
