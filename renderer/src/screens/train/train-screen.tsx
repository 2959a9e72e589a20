import { useEffect, useMemo, useRef } from "react";
import { askToStopTraining, checkpointTraining, pauseTraining, resumeTraining } from "../../actions/training.ts";
import { runCommand, useCommands } from "../../commands/handlers.ts";
import { commandById } from "../../commands/table.ts";
import { Button } from "../../parts/button.tsx";
import { Chip } from "../../parts/chip.tsx";
import { Pane } from "../../parts/pane.tsx";
import { SidePane } from "../../parts/side-pane.tsx";
import { Splitter, usePaneSize } from "../../parts/splitter.tsx";
import { Boundary, Empty, Failed, Loading } from "../../parts/states.tsx";
import { useMedia } from "../../parts/use-media.ts";
import { invalidate } from "../../service/queries.ts";
import { useQueries, useQuery } from "../../service/use-query.ts";
import { type TrainingRunView, trainingQuery, trainingsQuery } from "../../service/views.ts";
import type { TrainPlace } from "../../state/places.ts";
import { useTrainView } from "../../state/train-view.ts";
import { openTrain, titleTab, toggleDetails, useDetailsShown, useWorkspace } from "../../state/workspace.ts";
import { canGoOn, isUnderWay, statusWords, timeLeft } from "../../words/training.ts";
import { ChartsView, type ShownGroup } from "./charts-view.tsx";
import { configurationsOf, shownConfigurations, slotsOf } from "./configurations.ts";
import { ConfigurationsPane } from "./configurations-pane.tsx";
import { RunPane } from "./run-pane.tsx";
import { StepBar } from "./step-bar.tsx";
import { StepPane } from "./step-pane.tsx";
import { Tiles } from "./tiles.tsx";

const run = (id: string) => () => void runCommand(commandById(id));

/** What can be done to a run as it stands. */
function useRunCommands(open: TrainingRunView): Readonly<Record<string, () => void>> {
  const { status } = open;
  const handled: Record<string, () => void> = {};
  if (status === "running" || status === "preparing") handled["train.pause"] = () => void pauseTraining(open);
  if (canGoOn(status)) handled["train.pause"] = () => void resumeTraining(open);
  if (status === "running") handled["train.checkpoint"] = () => void checkpointTraining(open);
  if (isUnderWay(status) || status === "paused") handled["train.stop"] = () => askToStopTraining(open);
  useCommands(handled);
  return handled;
}

function Head({ open }: { readonly open: TrainingRunView }) {
  const handled = useRunCommands(open);
  const words = statusWords(open);
  const left = timeLeft(open);
  const slim = useMedia("(max-width: 900px)");
  return (
    <div
      className="flex min-h-toolbar flex-none items-center gap-2 border-b border-line px-3"
      data-pane
      tabIndex={-1}
      role="toolbar"
      aria-label="Training run"
    >
      <h1 className="m-0 min-w-0 truncate text-lg font-strong tracking-[-0.011em]" title={open.name}>
        {open.name}
      </h1>
      <Chip tone={words.tone} glyph={words.glyph}>
        {words.word}
      </Chip>
      <span className="min-w-0 truncate text-sm text-muted narrow:hidden">
        {left ?? (isUnderWay(open.status) ? open.activity : `seed ${open.seed}`)}
      </span>
      <span className="flex-1" />
      {slim && <RunChoice open={open} />}
      {handled["train.pause"] && (
        <Button
          glyph={canGoOn(open.status) ? "play" : "pause"}
          look={canGoOn(open.status) ? "primary" : "plain"}
          folds
          onClick={handled["train.pause"]}
        >
          {canGoOn(open.status) ? "Resume" : "Pause"}
        </Button>
      )}
      {handled["train.checkpoint"] && (
        <Button glyph="download" folds onClick={handled["train.checkpoint"]}>
          Checkpoint now
        </Button>
      )}
      {handled["train.stop"] && (
        <Button look="danger" glyph="stop" folds command="train.stop" onClick={handled["train.stop"]}>
          Stop
        </Button>
      )}
      {!isUnderWay(open.status) && (
        <Button glyph="plus" folds onClick={run("train.new")}>
          New run…
        </Button>
      )}
      <span className="hidden narrow:block">
        <Button glyph="side" folds onClick={toggleDetails}>
          Details
        </Button>
      </span>
    </div>
  );
}

/** In a slim window the list of runs is a choice. */
function RunChoice({ open }: { readonly open: TrainingRunView }) {
  const { value: runs = [] } = useQuery(trainingsQuery);
  return (
    <select
      aria-label="Training run"
      className="control max-w-44 text-xs"
      value={open.id}
      onChange={(event) => openTrain({ id: event.target.value, step: null })}
    >
      {runs.map((each) => (
        <option key={each.id} value={each.id}>
          {each.name}, seed {each.seed}
        </option>
      ))}
    </select>
  );
}

/** Points and evaluations of the runs that are drawn, put into the list. */
function useDrawn(runs: readonly TrainingRunView[], open: TrainingRunView) {
  const chosen = useTrainView((state) => state.shown);
  const hidden = useTrainView((state) => state.hiddenSeeds);
  const listed = useMemo(() => shownConfigurations(configurationsOf(runs), open, chosen), [runs, open, chosen]);
  const ids = [...new Set([open.id, ...listed.flatMap((each) => each.runs.map(({ id }) => id))])];
  const details = useQueries(ids.map(trainingQuery));
  const known = useMemo(() => runs.map((each) => details.get(`training:${each.id}`)?.value ?? each), [runs, details]);
  const all = useMemo(() => configurationsOf(known), [known]);
  const shown = useMemo(() => shownConfigurations(all, open, chosen), [all, open, chosen]);
  const before = useRef<ReadonlyMap<string, number>>(new Map());
  const slots = useMemo(
    () =>
      slotsOf(
        shown.map(({ key }) => key),
        before.current,
      ),
    [shown],
  );
  before.current = slots;
  const groups = useMemo<readonly ShownGroup[]>(
    () =>
      shown
        .map(({ key, label, runs: seeds }) => ({ label, slot: slots.get(key) ?? 0, runs: seeds.filter(({ id }) => !hidden.has(id)) }))
        .filter((group) => group.runs.length > 0),
    [shown, slots, hidden],
  );
  return {
    all,
    shown,
    slots,
    groups,
    open: known.find(({ id }) => id === open.id) ?? open,
    failure: details.get(`training:${open.id}`)?.failure ?? null,
  };
}

const askAgainAfter = 3000;

/** A run tells of its steps; what it does between them (collecting 37 of 128) is asked for while it is looked at. */
function useActivity({ id, status }: TrainingRunView): void {
  const goesOn = isUnderWay(status);
  useEffect(() => {
    if (!goesOn) return undefined;
    const timer = setInterval(() => {
      invalidate("trainings");
      invalidate(`training:${id}`);
    }, askAgainAfter);
    return () => clearInterval(timer);
  }, [id, goesOn]);
}

const leftPane = { name: "configurations", initial: 216, least: 200, most: 376 };

function Open({
  runs,
  open: listed,
  place,
}: {
  readonly runs: readonly TrainingRunView[];
  readonly open: TrainingRunView;
  readonly place: TrainPlace;
}) {
  const { all, shown, slots, groups, open, failure } = useDrawn(runs, listed);
  const sideShown = useDetailsShown();
  const slim = useMedia("(max-width: 900px)");
  const width = usePaneSize(leftPane);
  const { step } = place;
  const select = (to: number): void => {
    openTrain({ id: open.id, step: to });
    if (matchMedia("(max-width: 1200px)").matches) useWorkspace.setState({ detailsOver: true });
  };
  const last = open.points.at(-1)?.step ?? 0;
  useEffect(() => titleTab("train", open.name), [open.name]);
  useActivity(open);
  useCommands({
    ...(last > 0
      ? {
          "train.next": () => select(Math.min(last, (step ?? 0) + 1)),
          "train.previous": () => select(Math.max(1, (step ?? last + 1) - 1)),
          "train.last": () => select(last),
        }
      : {}),
    ...(step === null ? {} : { "train.close": () => openTrain({ step: null }) }),
  });
  return (
    <>
      <Head open={open} />
      {failure !== null && open.points.length === 0 ? (
        <Failed failure={failure} />
      ) : (
        <>
          <Tiles run={open} />
          <div className="relative flex min-h-0 flex-1">
            {!slim && (
              <>
                <Pane label="Configurations" className="flex-none border-r border-line" style={{ width }}>
                  <ConfigurationsPane all={all} shown={shown} slots={slots} open={open} />
                </Pane>
                <Splitter {...leftPane} side="left" label="Width of configurations" />
              </>
            )}
            <Pane label="Curves" className="flex-1 slim:overflow-y-auto!">
              <Boundary>
                <ChartsView open={open} groups={groups} selected={step} onSelect={(to) => select(Math.max(1, Math.min(last, to)))} />
                <StepBar run={open} selected={step} onSelect={select} />
              </Boundary>
            </Pane>
            {sideShown && (
              <SidePane label={step === null ? "Run" : "Step"} name="step" initial={304} subject={`${open.id}/${step ?? ""}`}>
                {step === null ? <RunPane run={open} /> : <StepPane run={open} step={step} />}
              </SidePane>
            )}
          </div>
        </>
      )}
    </>
  );
}

/** Training runs: live curves, health, steps, and what each step was made of. */
export function TrainScreen({ place }: { readonly place: TrainPlace }) {
  const { value: runs, failure } = useQuery(trainingsQuery);
  if (runs === undefined) return failure === null ? <Loading what="Reading the training runs" /> : <Failed failure={failure} />;
  const open = runs.find(({ id }) => id === place.id) ?? (place.id === null ? runs[0] : undefined);
  if (open !== undefined) return <Open runs={runs} open={open} place={place} />;
  if (runs.length > 0)
    return (
      <Empty title="This run is not here" text={`There is no training run ${place.id}.`}>
        <Button onClick={() => openTrain({ id: null, step: null })}>Show the newest</Button>
      </Empty>
    );
  return (
    <Empty
      title="No training runs yet"
      text="Curves, health and every step's rollouts are shown here while a policy trains. The starter experiment trains a small policy on this computer in a few minutes; a run file trains one of your own."
    >
      <Button look="primary" glyph="play" onClick={run("experiment.starter")}>
        Run the starter experiment
      </Button>
      <Button onClick={run("train.new")}>New training run…</Button>
    </Empty>
  );
}
