import { memo, type ReactNode } from "react";
import { Chip, OutcomeChip } from "../../parts/chip.tsx";
import { Cell } from "../../parts/grid-cell.tsx";
import { Icon } from "../../parts/icon.tsx";
import { PhaseDashes, RewardBar } from "../../parts/reward-bar.tsx";
import type { ExperimentView, RolloutView } from "../../service/views.ts";
import { policyWords, shortId, taskWords } from "../../words/names.ts";
import { count } from "../../words/numbers.ts";
import { callWords } from "../../words/summaries.ts";
import { seconds, span } from "../../words/times.ts";
import { CallMarks, MeanReward, OutcomeStack, TimeCell, TrainableCell } from "./cells.tsx";
import { levelOf, type Row } from "./rows.ts";

export interface RowActions {
  readonly select: (key: string) => void;
  readonly toggle: (row: Row) => void;
  readonly open: (row: Row, keep: boolean) => void;
}

interface RowProps {
  readonly row: Row;
  readonly id: string;
  readonly active: boolean;
  readonly actions: RowActions;
  readonly top: number;
}

const Missing = () => <span className="text-muted">–</span>;
const many = ([only, ...others]: readonly string[], word: string): ReactNode =>
  only === undefined ? <Missing /> : others.length === 0 ? only : `${others.length + 1} ${word}`;

function Twisty({ open, onToggle }: { readonly open: boolean; readonly onToggle: () => void }) {
  return (
    // The keyboard has Left and Right for this; the pointer gets a target of its own.
    <span
      className="grid size-4 flex-none place-items-center text-muted"
      aria-hidden="true"
      onPointerDown={(event) => {
        event.stopPropagation();
        onToggle();
      }}
    >
      <Icon name={open ? "down" : "right"} size={0.6875} />
    </span>
  );
}

const experimentSeconds = (experiment: ExperimentView): number => ((experiment.endedAt ?? Date.now()) - experiment.createdAt) / 1000;

function ExperimentCells({ row, toggle }: { readonly row: Extract<Row, { kind: "experiment" }>; readonly toggle: () => void }) {
  const { experiment } = row;
  return (
    <>
      <Cell className="flex items-center gap-1 pl-0.5!">
        <Twisty open={row.open} onToggle={toggle} />
        <span className="truncate" title={experiment.name}>
          {experiment.name}
        </span>
        <span className="flex-none">
          {experiment.status === "running" && <Chip tone="running">live</Chip>}
          {experiment.status === "recording" && <Chip tone="neutral">recording</Chip>}
          {experiment.status === "cancelled" && <Chip tone="neutral">cancelled</Chip>}
        </span>
        {row.matching !== null && <span className="flex-none font-normal text-muted tabular-nums">{row.matching} match</span>}
      </Cell>
      <Cell className="column-harness font-medium text-muted" title={experiment.harnesses.join(", ")}>
        {many(experiment.harnesses, "harnesses")}
      </Cell>
      <Cell className="column-policy font-medium text-muted" title={experiment.policies.join(", ")}>
        {many(experiment.policies.map(policyWords), "policies")}
      </Cell>
      <Cell className="number">
        <MeanReward reward={experiment.reward} />
      </Cell>
      <Cell className="col-span-2 slim:col-span-1">
        <OutcomeStack experiment={experiment} />
      </Cell>
      <Cell className="number column-tokens font-medium">{experiment.calls === 0 ? <Missing /> : count(experiment.tokens)}</Cell>
      <Cell className="number column-calls font-medium">{count(experiment.calls)}</Cell>
      <Cell className="number column-chains font-medium">{experiment.chains === 0 ? <Missing /> : count(experiment.chains)}</Cell>
      <Cell className="number font-medium">{experiment.status === "recording" ? <Missing /> : span(experimentSeconds(experiment))}</Cell>
    </>
  );
}

function RolloutCells({ rollout, open, toggle }: { readonly rollout: RolloutView; readonly open: boolean; readonly toggle: () => void }) {
  const tokens = rollout.promptTokens + rollout.completionTokens;
  return (
    <>
      <Cell className="flex items-center gap-1.25 pl-4.5!">
        <Twisty open={open} onToggle={toggle} />
        <span className="flex-none font-mono text-2xs text-muted" title={rollout.id}>
          {shortId(rollout.id)}
        </span>
        <span className="truncate" title={rollout.task}>
          {taskWords(rollout.task)}
        </span>
      </Cell>
      <Cell className="column-harness" title={`${rollout.harness} ${rollout.harnessVersion}`}>
        {rollout.harness}
      </Cell>
      <Cell
        className="column-policy text-secondary"
        title={
          rollout.policyVersion === null || rollout.policyVersion === rollout.policy ? rollout.policy : `${rollout.policy}, ${rollout.policyVersion}`
        }
      >
        {policyWords(rollout.policy)}
      </Cell>
      <Cell>{rollout.phase !== "ended" ? <PhaseDashes phase={rollout.phase} /> : <RewardBar reward={rollout.reward} />}</Cell>
      <Cell className="flex" title={rollout.detail ?? (rollout.cause === null ? undefined : `${rollout.status} · ${rollout.cause}`)}>
        <OutcomeChip rollout={rollout} />
      </Cell>
      <Cell className="column-trainable">
        <TrainableCell rollout={rollout} />
      </Cell>
      <Cell className="number column-tokens">{tokens === 0 ? <Missing /> : count(tokens)}</Cell>
      <Cell className="number column-calls">{rollout.phase !== "ended" && rollout.calls === 0 ? <Missing /> : count(rollout.calls)}</Cell>
      <Cell className="number column-chains">{rollout.chains === 0 ? <Missing /> : count(rollout.chains)}</Cell>
      <Cell className="number">
        <TimeCell rollout={rollout} />
      </Cell>
    </>
  );
}

function CallCells({ row }: { readonly row: Extract<Row, { kind: "call" }> }) {
  const { call } = row;
  const { head, rest } = callWords(call);
  return (
    <>
      <Cell className="flex items-center gap-1.5 text-secondary">
        <span className="w-15.5 flex-none text-right tabular-nums">{call.index + 1}</span>
        <span className={`flex-none font-mono text-xs ${head === "error" ? "text-failed" : ""}`}>{head}</span>
        <span className="truncate" title={call.summary}>
          {rest}
        </span>
        <CallMarks call={call} />
      </Cell>
      <Cell className="number column-tokens text-secondary">
        {call.promptTokens + call.completionTokens === 0 ? <Missing /> : count(call.promptTokens + call.completionTokens)}
      </Cell>
      <Cell className="number column-calls" />
      <Cell className="number column-chains text-secondary">{call.chain === null ? <Missing /> : call.chain + 1}</Cell>
      <Cell className="number text-secondary">{seconds(call.seconds)}</Cell>
    </>
  );
}

/** One row. It is drawn again only when its own data, or its being active, changes. */
export const RowView = memo(function RowView({ row, id, active, actions, top }: RowProps) {
  const toggle = (): void => actions.toggle(row);
  const look = row.kind === "experiment" ? "is-experiment" : row.kind === "call" ? "is-call" : "";
  return (
    // biome-ignore lint/a11y/useSemanticElements: a virtual grid of absolute rows is no HTML table
    // biome-ignore lint/a11y/useFocusableInteractive: the grid has one tab stop and names its active row
    // biome-ignore lint/a11y/useKeyWithClickEvents: the grid has the keys
    <div
      id={id}
      role="row"
      aria-level={levelOf(row)}
      aria-selected={active}
      aria-expanded={row.kind === "experiment" || row.kind === "rollout" ? row.open : undefined}
      data-active={active}
      data-row={row.key}
      className={`treegrid-row absolute inset-x-0 top-0 ${look}`}
      style={{ transform: `translateY(${top}px)` }}
      onClick={() => actions.select(row.key)}
      onDoubleClick={() => actions.open(row, true)}
    >
      {row.kind === "experiment" && <ExperimentCells row={row} toggle={toggle} />}
      {row.kind === "rollout" && <RolloutCells rollout={row.rollout} open={row.open} toggle={toggle} />}
      {row.kind === "call" && <CallCells row={row} />}
      {row.kind === "remark" && (
        <Cell className="col-span-full text-muted" style={{ paddingLeft: row.level === 2 ? "3rem" : "4.75rem" }}>
          {row.text}
        </Cell>
      )}
    </div>
  );
});
