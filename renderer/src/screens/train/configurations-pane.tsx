import { SeriesMark } from "../../charts/series-mark.tsx";
import { runCommand } from "../../commands/handlers.ts";
import { commandById } from "../../commands/table.ts";
import { IconButton } from "../../parts/button.tsx";
import { Icon } from "../../parts/icon.tsx";
import { PaneHeader, PaneTitle, Section } from "../../parts/pane.tsx";
import type { TrainingRunView } from "../../service/views.ts";
import { setSmoothing, showConfiguration, showSeed, useTrainView } from "../../state/train-view.ts";
import { openTrain } from "../../state/workspace.ts";
import { plural, plusMinus, reward } from "../../words/numbers.ts";
import { statusWords } from "../../words/training.ts";
import { type Configuration, mostShown } from "./configurations.ts";

const smoothings = [1, 3, 5, 9, 15, 25, 51] as const;

interface PaneProps {
  readonly all: readonly Configuration[];
  readonly shown: readonly Configuration[];
  readonly slots: ReadonlyMap<string, number>;
  readonly open: TrainingRunView;
}

/** Last held-out success of a configuration: its own interval for one seed, the spread of the seeds for several. */
function successWords(runs: readonly TrainingRunView[]): string {
  const last = runs.flatMap((run) => {
    const success = run.evaluations.at(-1)?.success;
    return success === undefined || success.mean === null ? [] : [success];
  });
  const means = last.flatMap(({ mean }) => (mean === null ? [] : [mean]));
  if (means.length === 0) return "";
  const mean = means.reduce((sum, each) => sum + each, 0) / means.length;
  const [only] = last;
  const around = last.length === 1 && only !== undefined ? plusMinus(only.low, only.high) : plusMinus(Math.min(...means), Math.max(...means));
  return `${reward(mean)} ${around ?? ""}`;
}

function SeedRow({
  run,
  on,
  open,
  locked,
}: {
  readonly run: TrainingRunView;
  readonly on: boolean;
  readonly open: boolean;
  readonly locked: boolean;
}) {
  const words = statusWords(run);
  return (
    <div className={`flex h-5.5 items-center gap-2 pr-3 pl-8.5 text-xs ${open ? "bg-selected-idle" : "hover:bg-hover"}`}>
      <input
        type="checkbox"
        className="checkbox"
        aria-label={`Show seed ${run.seed} of ${run.name}`}
        checked={on}
        disabled={locked}
        onChange={(event) => showSeed(run.id, event.target.checked)}
      />
      <button
        type="button"
        data-training={run.id}
        aria-current={open ? "true" : undefined}
        onClick={() => openTrain({ id: run.id, step: null })}
        className="focus-inside flex h-full min-w-0 flex-1 items-center gap-1.5 text-left"
        title={`${run.id}: ${words.word}`}
      >
        <span className={open ? "font-strong" : "text-secondary"}>seed {run.seed}</span>
        <span className="flex-1" />
        <Icon name={words.glyph} size={0.75} className="text-muted" />
        <span className="text-2xs text-muted tabular-nums">{run.status === "ended" ? "ended" : `step ${run.step}`}</span>
      </button>
    </div>
  );
}

/** Every configuration with its seeds: what is drawn, and which run the header, the tiles and the steps speak of. */
export function ConfigurationsPane({ all, shown, slots, open }: PaneProps) {
  const hidden = useTrainView((state) => state.hiddenSeeds);
  const smoothing = useTrainView((state) => state.smoothing);
  const full = shown.length >= mostShown;
  return (
    <>
      <PaneHeader>
        <PaneTitle>Configurations</PaneTitle>
        <span className="flex-1" />
        <IconButton glyph="plus" label="New training run…" onClick={() => runCommand(commandById("train.new"))} />
      </PaneHeader>
      <div className="min-h-0 flex-1 overflow-auto py-1.5" data-pane-focus tabIndex={-1}>
        {all.map((configuration) => {
          const { key, label, runs } = configuration;
          const on = shown.includes(configuration);
          const slot = slots.get(key);
          const refused = !on && full ? `Five at most are told apart; take another one away first.` : undefined;
          return (
            <section key={key} aria-label={label}>
              <label
                className={`flex h-6.5 items-center gap-2 px-3 text-xs ${refused === undefined ? "" : "text-disabled"}`}
                title={refused ?? label}
              >
                <input
                  type="checkbox"
                  className="checkbox"
                  checked={on}
                  disabled={refused !== undefined}
                  onChange={(event) => showConfiguration(key, event.target.checked)}
                />
                {slot !== undefined && on ? <SeriesMark slot={slot} /> : <span className="w-5 flex-none" />}
                <b className={`min-w-0 truncate ${on ? "" : "font-normal text-secondary"}`}>{label}</b>
              </label>
              <div className="flex items-center gap-2 pr-3 pb-0.5 pl-8.5 text-2xs font-medium text-muted">
                <span>{plural(runs.length, "seed")}</span>
                <span className="flex-1" />
                <span className="tabular-nums">{successWords(runs)}</span>
              </div>
              {runs.map((run) => (
                <SeedRow key={run.id} run={run} on={on && !hidden.has(run.id)} locked={!on} open={run.id === open.id} />
              ))}
            </section>
          );
        })}
      </div>
      <Section title={<label htmlFor="train-smoothing">Smoothing</label>} aside={smoothing === 1 ? "none" : `${smoothing} steps`}>
        <input
          id="train-smoothing"
          type="range"
          className="slider"
          min={0}
          max={smoothings.length - 1}
          step={1}
          value={Math.max(0, smoothings.indexOf(smoothing as (typeof smoothings)[number]))}
          aria-valuetext={smoothing === 1 ? "none" : `${smoothing} steps`}
          onChange={(event) => setSmoothing(smoothings[Number(event.target.value)] ?? 1)}
        />
        <p className="m-0 mt-1.5 text-2xs text-muted">A sixth of the steps at most. Raw minimum and maximum stay in the band.</p>
      </Section>
    </>
  );
}
