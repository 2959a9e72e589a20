import { useMemo } from "react";
import { Icon } from "../../../parts/icon.tsx";
import { PaneHeader, PaneTitle, Section } from "../../../parts/pane.tsx";
import type { ChainTokens } from "../../../service/views.ts";
import { count, decimal, position, probability } from "../../../words/numbers.ts";
import { heatStep, logprobStats, lowProbabilities, type PlacedSpan, surpriseBins } from "./chain.ts";

const binCount = 90;
const heat = (logprob: number): string => `var(--of-heat-${Math.max(2, heatStep(logprob))})`;

interface ChainPaneProps {
  readonly chain: ChainTokens;
  readonly spans: readonly PlacedSpan[];
  readonly cursor: number;
  readonly onGo: (position: number) => void;
}

/** Where a chain surprises: a bar a stretch, and below it what is trained. A click goes there. */
function SurpriseMap({ chain, spans, cursor, onGo }: ChainPaneProps) {
  const bins = useMemo(() => surpriseBins(spans, chain.total, binCount), [spans, chain.total]);
  const step = 252 / bins.length;
  return (
    <>
      <svg viewBox="0 0 252 62" width="100%" className="block" role="img" aria-label="Surprise by position">
        <rect x="0" y="46" width="252" height="7" fill="url(#chain-hatch)" />
        <defs>
          <pattern id="chain-hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
            <rect width="1.3" height="5" fill="var(--of-hatch)" />
          </pattern>
        </defs>
        <line x1="0" x2="252" y1="43.5" y2="43.5" stroke="var(--of-border-strong)" />
        {bins.map((bin, index) => (
          <g key={bin.from}>
            {bin.lowest !== null && (
              <rect
                x={index * step}
                y={43 - Math.min(40, Math.max(1.5, -bin.lowest * 5))}
                width={Math.max(1, step - 0.6)}
                height={Math.min(40, Math.max(1.5, -bin.lowest * 5))}
                fill={heat(bin.lowest)}
              />
            )}
            {bin.trained > 0 && <rect x={index * step} y="46" width={step} height="7" fill="var(--of-sampled)" opacity={0.35 + 0.65 * bin.trained} />}
            {cursor >= bin.from && cursor < bin.to && (
              <rect
                x={index * step - 1.5}
                y="0.75"
                width={step + 3}
                height="55"
                rx="2"
                fill="var(--of-selected)"
                fillOpacity=".35"
                stroke="var(--of-accent)"
              />
            )}
            {/* biome-ignore lint/a11y/noStaticElementInteractions: a map for the pointer; the keyboard has the cursor and its jumps */}
            <rect x={index * step} y="0" width={step} height="56" fill="transparent" onClick={() => onGo(bin.from)} />
          </g>
        ))}
      </svg>
      <div className="flex justify-between text-2xs text-muted tabular-nums">
        <span>0</span>
        <span>{position(chain.total)}</span>
      </div>
    </>
  );
}

function Histogram({ histogram }: { readonly histogram: readonly number[] }) {
  const most = Math.max(1, ...histogram);
  const step = 252 / histogram.length;
  return (
    <svg
      viewBox="0 0 252 74"
      width="100%"
      className="block"
      role="img"
      aria-label={`Log-probabilities: ${histogram.map((n, bin) => `${n} below ${-bin}`).join(", ")}`}
    >
      <line x1="0" x2="252" y1="56.5" y2="56.5" stroke="var(--of-border-strong)" />
      {histogram.map((n, bin) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: bins are numbered
        <rect key={bin} x={bin * step} y={56 - (n / most) * 52} width={step - 2} height={(n / most) * 52} fill={heat(-bin - 0.6)} />
      ))}
      {histogram.map((_, bin) =>
        bin % 2 === 0 ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: bins are numbered
          <text key={bin} x={bin * step + 2} y="69" fontSize="10" fill="var(--of-axis)">
            {bin === 0 ? "0" : `−${bin}`}
          </text>
        ) : null,
      )}
    </svg>
  );
}

const shownSurprises = 12;

/** Numbers of the chain, and where to look first. */
export function ChainPane(props: ChainPaneProps) {
  const { chain, spans, cursor, onGo } = props;
  const stats = useMemo(() => logprobStats(spans), [spans]);
  const surprises = useMemo(() => lowProbabilities(spans), [spans]);
  const unlikely = useMemo(
    () =>
      [...surprises]
        .sort((left, right) => left.logprob - right.logprob)
        .slice(0, shownSurprises)
        .sort((left, right) => left.position - right.position),
    [surprises],
  );
  return (
    <>
      <PaneHeader>
        <PaneTitle>Chain</PaneTitle>
        <span className="text-muted tabular-nums">{count(chain.total)} tokens</span>
      </PaneHeader>
      <div className="min-h-0 flex-1 overflow-auto">
        <Section title="Surprise by position">
          <SurpriseMap {...props} />
        </Section>
        <Section title={`Log-prob of ${count(stats.n)} sampled tokens`}>
          {stats.mean === null ? (
            <p className="m-0 text-2xs text-muted">The policy gave none.</p>
          ) : (
            <>
              <Histogram histogram={stats.histogram} />
              <p className="m-0 mt-1.5 text-2xs text-secondary tabular-nums">
                mean <b>{decimal(stats.mean, 3)}</b> · trained <b>{count(chain.trained)}</b>
              </p>
            </>
          )}
        </Section>
        <Section title="Worth a look" aside={surprises.length > unlikely.length ? `${unlikely.length} of ${count(surprises.length)}` : undefined}>
          {unlikely.length === 0 && <p className="m-0 text-2xs text-muted">No sampled token is below p 0.001.</p>}
          {unlikely.map((each) => (
            <button
              key={each.position}
              type="button"
              onClick={() => onGo(each.position)}
              className={`focus-inside -mx-2 flex h-6.5 w-[calc(100%+1rem)] items-center gap-2 rounded-2 px-2 text-left text-xs ${each.position === cursor ? "bg-selected-idle" : "hover:bg-hover"}`}
            >
              <Icon name="warn" size={0.875} className="text-muted" />
              <span className="flex-1">p below 0.001</span>
              <span className="text-muted tabular-nums">{position(each.position)}</span>
              <span className="w-14 text-right tabular-nums">{probability(each.logprob)}</span>
            </button>
          ))}
        </Section>
      </div>
    </>
  );
}
