import { Hint } from "../../parts/hint.tsx";
import type { TrainingRunView } from "../../service/views.ts";
import { partShares, shareWords, type TimeShare, wholeShares } from "./time-shares.ts";

/** A name with its definition in the tooltip, which the keyboard must reach. */
function Named({ part }: { readonly part: TimeShare }) {
  return (
    <Hint text={part.definition}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: its definition is in the tooltip, which the keyboard must reach */}
      <span tabIndex={0} className="truncate underline decoration-line-control decoration-dotted underline-offset-2">
        {part.name}
      </span>
    </Hint>
  );
}

/** The whole time in three parts: engine (sampler or trainer) at work, sandboxes alone, idle. One strip and its legend. */
export function TimeStrip({ seconds }: Pick<TrainingRunView, "seconds">) {
  const parts = wholeShares(seconds);
  if (parts === null) return null;
  return (
    <div className="text-2xs font-medium text-secondary">
      <div className="flex h-2.5 gap-px overflow-hidden rounded-[2px] bg-sunken" aria-hidden="true">
        {parts.map(
          ({ name, share, ink }) =>
            share > 0 && <i key={name} className="block h-full min-w-px" style={{ width: `${share * 100}%`, background: ink }} />,
        )}
      </div>
      <ul className="m-0 mt-1.5 flex list-none justify-between gap-2 p-0">
        {parts.map((part) => (
          <li key={part.name} className="grid grid-cols-[0.5rem_auto] items-center gap-x-1.25 whitespace-nowrap">
            <i className="block size-2 rounded-[2px]" style={{ background: part.ink }} aria-hidden="true" />
            <b className="font-strong text-fg tabular-nums">{shareWords(part.share)}</b>
            <span className="col-start-2">
              <Named part={part} />
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Where the time of a run went: the whole in one strip, then each part by itself, for parts run beside each other. */
export function WallTime({ seconds }: Pick<TrainingRunView, "seconds">) {
  const parts = partShares(seconds);
  if (parts.length === 0) return <p className="m-0 text-2xs text-muted">Nothing was measured yet.</p>;
  return (
    <>
      <TimeStrip seconds={seconds} />
      <div className="mt-2 text-2xs font-medium text-muted">
        {parts.map((part) => (
          <div key={part.name} className="flex h-4.5 items-center gap-2">
            <span className="flex w-16">
              <Named part={part} />
            </span>
            <span className="h-1.5 flex-1 overflow-hidden rounded-[2px] bg-sunken">
              <i className="block h-full" style={{ width: `${part.share * 100}%`, background: part.ink }} />
            </span>
            <span className="w-10 text-right tabular-nums">{shareWords(part.share)}</span>
          </div>
        ))}
      </div>
    </>
  );
}
