import { Hint } from "../../parts/hint.tsx";
import { Icon } from "../../parts/icon.tsx";
import { useQuery } from "../../service/use-query.ts";
import { experimentsQuery, type TrainingRunView } from "../../service/views.ts";
import { bytes, count, decimal, missing } from "../../words/numbers.ts";
import { isUnderWay } from "../../words/training.ts";
import { otherWarnings, recent, type Tile, tiles } from "./measures.ts";

const sparkPoints = 60;

function Sparkline({ values, warn }: { readonly values: readonly number[]; readonly warn: boolean }) {
  const low = Math.min(...values);
  const span = Math.max(...values) - low;
  const points = values.map((value, index) => {
    const x = values.length === 1 ? 45 : (index / (values.length - 1)) * 90;
    return `${x.toFixed(1)},${(span === 0 ? 9 : 16 - ((value - low) / span) * 14).toFixed(1)}`;
  });
  return (
    <svg width="100%" height="18" viewBox="0 0 90 18" preserveAspectRatio="none" aria-hidden="true" className="block">
      {values.length > 1 && (
        <polyline
          points={points.join(" ")}
          fill="none"
          stroke={warn ? "var(--of-paused)" : "var(--of-text-muted)"}
          strokeWidth="1.3"
          vectorEffect="non-scaling-stroke"
        />
      )}
    </svg>
  );
}

interface TileBoxProps {
  readonly title: string;
  readonly value: string;
  readonly about: string;
  readonly hint: string;
  readonly values: readonly number[];
  readonly warn: boolean;
}

function TileBox({ title, value, about, hint, values, warn }: TileBoxProps) {
  return (
    <Hint text={hint}>
      <li
        // biome-ignore lint/a11y/noNoninteractiveTabindex: its definition is in the tooltip, which the keyboard must reach
        tabIndex={0}
        className={`focus-inside min-w-0 px-3 pt-1.75 pb-1.5 short:min-w-32 ${title.length > 18 ? "flex-[1.4_1_11rem]" : "flex-[1_1_7.5rem]"} ${warn ? "bg-paused-tint" : "bg-header"}`}
      >
        <div className="flex items-center gap-1 text-2xs font-medium text-secondary">
          <span className="truncate">{title}</span>
          <span className="flex-1" />
          {warn && <Icon name="warn" size={0.875} className="text-paused" />}
        </div>
        <b className={`block text-md leading-5 tabular-nums ${warn ? "text-paused" : ""}`}>{value}</b>
        <Sparkline values={values} warn={warn} />
        <span className="block truncate text-2xs font-medium text-secondary">{about}</span>
      </li>
    </Hint>
  );
}

/** What the tile says below its value: the limit that is passed, else what it is of. */
function aboutTile(tile: Tile, run: TrainingRunView): string {
  if (tile.key === "memory" && run.memory !== null) return `planned from ${bytes(run.memory.bytes)}`;
  return tile.about;
}

function MeasureTile({ tile, run }: { readonly tile: Tile; readonly run: TrainingRunView }) {
  const point = run.points.at(-1);
  const value = point === undefined ? null : (tile.read(point) ?? null);
  const warning = point?.health.find(({ measure }) => tile.measures.includes(measure));
  return (
    <TileBox
      title={tile.title}
      value={value === null ? missing : tile.format(value)}
      about={warning === undefined ? aboutTile(tile, run) : warning.limit === null ? "look at this" : `limit ${tile.format(warning.limit)}`}
      hint={warning?.message ?? tile.definition}
      values={recent(run.points, tile.read, sparkPoints)}
      warn={warning !== undefined}
    />
  );
}

function WaitingTile({ run }: { readonly run: TrainingRunView }) {
  const { value: experiments } = useQuery(experimentsQuery);
  const experiment = experiments?.find((each) => each.id === run.experiment);
  const waiting = isUnderWay(run.status) && experiment !== undefined ? experiment.total - experiment.ended : null;
  return (
    <TileBox
      title="Under way"
      value={count(waiting)}
      about={isUnderWay(run.status) && run.activity !== "" ? run.activity : "rollouts"}
      hint="Rollouts that were started and have not ended: queued, running or being verified."
      values={[]}
      warn={false}
    />
  );
}

/** The health of a run at its last step. A measure beyond its limit is amber, with a glyph, its limit and what it means. */
export function Tiles({ run }: { readonly run: TrainingRunView }) {
  const point = run.points.at(-1);
  return (
    <ul
      aria-label="Health of the run"
      className="m-0 flex flex-none list-none flex-wrap gap-px border-b border-line bg-line p-0 short:flex-nowrap short:overflow-x-auto"
    >
      {point !== undefined &&
        otherWarnings(point).map(({ measure, value, limit, message }) => (
          <TileBox
            key={measure}
            title={measure.replace(/([A-Z])/g, " $1").replace(/^./, (first) => first.toUpperCase())}
            value={decimal(value, 2)}
            about={limit === null ? "look at this" : `limit ${decimal(limit, 2)}`}
            hint={message}
            values={[]}
            warn
          />
        ))}
      {tiles.map((tile) => (
        <MeasureTile key={tile.key} tile={tile} run={run} />
      ))}
      <WaitingTile run={run} />
    </ul>
  );
}
