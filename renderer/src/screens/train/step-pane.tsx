import { type KeyboardEvent, useMemo, useState } from "react";
import { copyLink } from "../../actions/links.ts";
import { useCommands } from "../../commands/handlers.ts";
import { advantageInk, advantageStep } from "../../parts/advantage.ts";
import { Button, IconButton } from "../../parts/button.tsx";
import { Segmented } from "../../parts/choice.tsx";
import { Facts, PaneHeader, PaneTitle, Section } from "../../parts/pane.tsx";
import { rewardStep } from "../../parts/reward-bar.tsx";
import { Empty, Note, Ready } from "../../parts/states.tsx";
import { useQuery } from "../../service/use-query.ts";
import { type TrainingRunView, type TrainingStepDetail, trainingStepQuery } from "../../service/views.ts";
import { rolloutPlace } from "../../state/places.ts";
import { chooseStepRollout, useTrainView } from "../../state/train-view.ts";
import { openPlace, openTrain } from "../../state/workspace.ts";
import { shortId, taskWords } from "../../words/names.ts";
import { count, decimal, missing, plural, reward as rewardText } from "../../words/numbers.ts";
import { seconds } from "../../words/times.ts";
import { type StepGroup, type StepRollout, stepGroups, weightiest } from "./groups.ts";
import { TimeStrip } from "./wall-time.tsx";

type Colouring = "reward" | "advantage";

const signed = (value: number | null, digits: number): string => (value === null ? missing : `${value > 0 ? "+" : ""}${decimal(value, digits)}`);

function median(values: readonly number[]): number | null {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[sorted.length >> 1] ?? null;
}

function StepFacts({ detail, run }: { readonly detail: TrainingStepDetail; readonly run: TrainingRunView }) {
  const { point } = detail;
  const losses = run.points.flatMap(({ loss, stage }) => (loss === null || stage !== point.stage ? [] : [loss]));
  const clip = point.metrics.clipFraction;
  const left = Object.entries(point.left);
  return (
    <Section>
      <Facts
        labelWidth="7rem"
        rows={[
          [
            "Loss",
            <span key="loss">
              <b>{signed(point.loss, 3)}</b> <span className="text-muted">median {signed(median(losses), 3)}</span>
            </span>,
          ],
          ["Mean reward", rewardText(point.reward.mean)],
          ["Clip fraction", clip === undefined ? null : decimal(clip, 3)],
          ["Gradient norm", point.gradientNorm === null ? null : decimal(point.gradientNorm, 2)],
          ["Rollouts", `${count(point.used)} of ${count(point.rollouts)} took part`],
          ["Tokens trained", `${count(point.trainedTokens)}, ${count(point.uniqueTokens)} computed`],
          ...(point.staleness > 0 ? ([["Staleness", `${plural(point.staleness, "version")} behind at most`]] as const) : []),
          ["Wall time", seconds(point.seconds.total)],
        ]}
      />
      {point.seconds.total > 0 && (
        <div className="mt-2">
          <TimeStrip seconds={point.seconds} />
        </div>
      )}
      {left.length > 0 && (
        <p className="m-0 mt-2 text-2xs leading-4 text-muted">Left out: {left.map(([why, n]) => `${why} (${count(n)})`).join(" · ")}</p>
      )}
      <div className="mt-2.5 grid gap-1.5 empty:hidden">
        {point.health.map(({ measure, message }) => (
          <Note key={measure} look={measure === "mask" ? "bad" : "warn"}>
            {message}
          </Note>
        ))}
      </div>
    </Section>
  );
}

interface SquareProps {
  readonly rollout: StepRollout;
  readonly colouring: Colouring;
  readonly largest: number;
  readonly chosen: boolean;
}

function squareWords({ rollout, reward, advantage, leftOut, trainedTokens }: StepRollout): string {
  const part = leftOut === null ? `advantage ${signed(advantage, 2)}, ${plural(trainedTokens, "token")} trained` : `left out: ${leftOut}`;
  return `${shortId(rollout)}, reward ${rewardText(reward)}, ${part}`;
}

/** One rollout: shade is its reward or its advantage; hatched = it took no part. */
function Square({ rollout, colouring, largest, chosen }: SquareProps) {
  const value = colouring === "reward" ? rollout.reward : rollout.advantage;
  const background = value === null ? undefined : colouring === "reward" ? rewardStep(value).background : advantageInk(advantageStep(value, largest));
  return (
    // biome-ignore lint/a11y/useSemanticElements: a cell of a grid that one tab stop walks through
    <button
      type="button"
      role="gridcell"
      tabIndex={chosen ? 0 : -1}
      data-square={rollout.rollout}
      aria-label={squareWords(rollout)}
      aria-selected={chosen}
      title={squareWords(rollout)}
      onClick={() => chooseStepRollout(rollout.rollout)}
      onDoubleClick={() => openRollout(rollout)}
      style={{ background }}
      className={`h-3.25 w-2.75 flex-none rounded-[2px] ${value === null ? "hatch" : ""} ${chosen ? "outline-2 outline-offset-1 outline-fg" : "shadow-[inset_0_0_0_1px_var(--of-border-control)]"}`}
    />
  );
}

const openRollout = ({ rollout, task }: StepRollout): void =>
  openPlace(rolloutPlace(rollout), { preview: true, title: `${shortId(rollout)} · ${taskWords(task)}` });

function GroupRow({
  group,
  chosen,
  ...rest
}: Omit<SquareProps, "rollout" | "chosen"> & { readonly group: StepGroup; readonly chosen: StepRollout | null }) {
  const holds = group.rollouts.some((rollout) => rollout === chosen);
  return (
    // biome-ignore lint/a11y/useSemanticElements: rows of a grid of squares
    // biome-ignore lint/a11y/useFocusableInteractive: its cells take the focus
    <div role="row" className={`flex min-h-6.75 items-center gap-2 px-3 py-1 text-xs ${holds ? "bg-selected-idle" : ""}`}>
      {/* biome-ignore lint/a11y/useSemanticElements: see above */}
      {/* biome-ignore lint/a11y/useFocusableInteractive: see above */}
      <span role="rowheader" className="min-w-0 flex-1 truncate" title={`${group.task}, ${group.harness}`}>
        {taskWords(group.task)}
      </span>
      {group.flat ? (
        <span className="chip hatch pl-1.5! text-masked shadow-[inset_0_0_0_1px_var(--of-hatch)]">no variance</span>
      ) : (
        <span className="text-2xs text-muted tabular-nums">{group.lossShare === null ? "" : `${Math.round(group.lossShare * 100)}\u00a0%`}</span>
      )}
      <span className="flex max-w-30 flex-none flex-wrap justify-end gap-0.5">
        {group.rollouts.map((rollout) => (
          <Square key={rollout.rollout} {...rest} rollout={rollout} chosen={rollout === chosen} />
        ))}
      </span>
    </div>
  );
}

/** Arrows walk over the squares: left and right in a group, up and down between groups. */
function moved(groups: readonly StepGroup[], chosen: StepRollout | null, key: string): StepRollout | null {
  if (!key.startsWith("Arrow")) return null;
  const row = groups.findIndex((group) => group.rollouts.some((rollout) => rollout === chosen));
  const column = chosen === null ? 0 : (groups[row]?.rollouts.indexOf(chosen) ?? 0);
  const down = { ArrowDown: 1, ArrowUp: -1 }[key] ?? 0;
  const right = { ArrowRight: 1, ArrowLeft: -1 }[key] ?? 0;
  const target = groups[row + down]?.rollouts;
  return target?.[Math.min(target.length - 1, column + right)] ?? null;
}

function StepBody({ detail, run }: { readonly detail: TrainingStepDetail; readonly run: TrainingRunView }) {
  const [colouring, setColouring] = useState<Colouring>("reward");
  const wanted = useTrainView((state) => state.rollout);
  const groups = useMemo(() => stepGroups(detail.rollouts), [detail]);
  const chosen = detail.rollouts.find(({ rollout }) => rollout === wanted) ?? weightiest(groups);
  const largest = Math.max(0, ...detail.rollouts.map(({ advantage }) => Math.abs(advantage ?? 0)));
  const sizes = new Set(groups.map((group) => group.rollouts.length));
  const openTokens = (): void => {
    if (chosen === null) return;
    openPlace(rolloutPlace(chosen.rollout, { view: "tokens", trained: { run: run.id, step: detail.point.step } }), {
      preview: true,
      title: `${shortId(chosen.rollout)} · ${taskWords(chosen.task)}`,
    });
  };
  useCommands(chosen === null ? null : { "train.tokens": openTokens, "train.rollout": () => openRollout(chosen) });
  const onKeyDown = (event: KeyboardEvent): void => {
    const next = moved(groups, chosen, event.key);
    if (event.key === "Enter" && chosen !== null) openRollout(chosen);
    else if (next !== null) {
      chooseStepRollout(next.rollout);
      requestAnimationFrame(() => document.querySelector<HTMLElement>(`[data-square="${CSS.escape(next.rollout)}"]`)?.focus());
    } else if (!event.key.startsWith("Arrow")) return;
    event.preventDefault();
  };
  return (
    <>
      <div className="min-h-0 flex-1 overflow-auto">
        <StepFacts detail={detail} run={run} />
        <PaneHeader>
          <PaneTitle>Groups</PaneTitle>
          <span className="text-muted tabular-nums">{sizes.size === 1 ? `${groups.length} × ${[...sizes].join("")}` : groups.length}</span>
          <span className="flex-1" />
          <Segmented<Colouring>
            small
            label="Shade of the squares"
            value={colouring}
            onChange={setColouring}
            options={[
              { value: "reward", label: "Reward" },
              { value: "advantage", label: "Advantage" },
            ]}
          />
        </PaneHeader>
        {groups.length === 0 ? (
          <p className="m-0 p-3 text-2xs text-muted">This step was trained on no rollouts of its own.</p>
        ) : (
          // biome-ignore lint/a11y/useSemanticElements: squares in rows, walked by arrows
          <div role="grid" aria-label="Rollouts of the step by group, by share of the loss" className="py-1" onKeyDown={onKeyDown} tabIndex={-1}>
            {groups.map((group) => (
              <GroupRow key={group.key} group={group} colouring={colouring} largest={largest} chosen={chosen} />
            ))}
          </div>
        )}
      </div>
      {chosen !== null && (
        <div className="flex-none border-t border-line px-3 py-2.5">
          <p className="m-0 mb-2 truncate text-2xs text-muted">{squareWords(chosen)}</p>
          <div className="flex flex-wrap gap-2">
            <Button look="primary" glyph="token" command="train.tokens" onClick={openTokens}>
              Open tokens
            </Button>
            <Button glyph="rec" command="train.rollout" onClick={() => openRollout(chosen)}>
              Open rollout
            </Button>
          </div>
        </div>
      )}
    </>
  );
}

/** What one update was made of: its numbers, its warnings, its rollouts by group. */
export function StepPane({ run, step }: { readonly run: TrainingRunView; readonly step: number }) {
  const made = run.points.some((point) => point.step === step);
  const state = useQuery(made ? trainingStepQuery(run.id, step) : null);
  const version = run.points.find((point) => point.step === step)?.policyVersion;
  return (
    <>
      <PaneHeader>
        <PaneTitle>Step {step}</PaneTitle>
        <span className="truncate text-muted" title={version}>
          seed {run.seed}
          {version === undefined ? "" : `, ${version}`}
        </span>
        <span className="flex-1" />
        <IconButton glyph="link" label="Copy link" keyShown="c" onClick={() => void copyLink({ kind: "train", id: run.id, step })} />
        <IconButton glyph="close" label="Close step" keyShown="Esc" onClick={() => openTrain({ step: null })} />
      </PaneHeader>
      {made ? (
        <Ready state={state} reading={`Reading step ${step}`}>
          {(detail) => <StepBody key={step} detail={detail} run={run} />}
        </Ready>
      ) : (
        <Empty title={`Step ${step} is not there yet`} text={`The run has made ${plural(run.step, "step")}.`} />
      )}
    </>
  );
}
