import { useMemo, useState } from "react";
import { Chart } from "../../charts/chart.tsx";
import { spikeOf } from "../../charts/columns.ts";
import type { ChartGroup } from "../../charts/group.ts";
import { Icon } from "../../parts/icon.tsx";
import type { TrainingRunView } from "../../service/views.ts";
import { useTrainView } from "../../state/train-view.ts";
import { count, decimal } from "../../words/numbers.ts";
import { curvesOf, type RunCurves, smoothingOf } from "./measures.ts";

export interface ShownGroup {
  readonly label: string;
  readonly slot: number;
  readonly runs: readonly TrainingRunView[];
}

interface ChartsProps {
  readonly open: TrainingRunView;
  readonly groups: readonly ShownGroup[];
  readonly selected: number | null;
  readonly onSelect: (step: number) => void;
}

const groupsOf = (groups: readonly ShownGroup[], pick: (curves: RunCurves) => RunCurves[keyof RunCurves]): readonly ChartGroup[] =>
  groups.map(({ label, slot, runs }) => ({ name: label, slot, curves: runs.map((run) => pick(curvesOf(run))) }));

function evaluationWords(run: TrainingRunView): string {
  const last = run.evaluations.at(-1);
  if (last === undefined) return "not evaluated yet";
  const several = last.samples === 1 ? "" : `, ${last.samples} rollouts each`;
  return `${count(Math.round(last.success.n / Math.max(1, last.samples)))} tasks${several}`;
}

/** Four curves of the open run and those beside it, on the same steps. */
export function ChartsView({ open, groups, selected, onSelect }: ChartsProps) {
  const [cursor, setCursor] = useState<number | null>(null);
  const smoothing = smoothingOf(
    useTrainView((state) => state.smoothing),
    Math.max(0, ...groups.flatMap(({ runs }) => runs.map((run) => run.step))),
  );
  const to = Math.max(1, ...groups.flatMap(({ runs }) => runs.map((run) => Math.max(run.steps, run.step))));
  const domain = useMemo(() => ({ from: 0, to }), [to]);
  const curves = useMemo(
    () => ({
      success: groupsOf(groups, ({ success }) => success),
      loss: groupsOf(groups, ({ loss }) => loss),
      divergence: groupsOf(groups, ({ divergence }) => divergence),
      length: groupsOf(groups, ({ length }) => length),
    }),
    [groups],
  );
  const spike = useMemo(() => spikeOf(curvesOf(open).loss), [open]);
  const imitation = open.points.length > 0 && open.points.every(({ stage }) => stage === "sft");
  const shared = { domain, cursor, selected, onCursor: setCursor, onSelect };
  return (
    <div className="grid min-h-0 flex-1 auto-rows-[minmax(10rem,1fr)] grid-cols-2 overflow-auto slim:flex-none slim:auto-rows-[12rem] slim:grid-cols-1 slim:overflow-visible">
      <Chart
        {...shared}
        title="Held-out success"
        about={evaluationWords(open)}
        groups={curves.success}
        smoothing={1}
        format={(value) => decimal(value, 2)}
      />
      <Chart
        {...shared}
        title={imitation ? "Imitation loss" : "Policy loss"}
        about="mean of the update"
        groups={curves.loss}
        smoothing={smoothing}
        format={(value) => decimal(value, 3)}
        {...(spike === null
          ? {}
          : {
              aside: (
                <button type="button" className="chip bg-paused-tint text-paused" onClick={() => onSelect(spike)}>
                  <Icon name="warn" size={0.8125} weight={1.6} />
                  spike at step {spike}
                </button>
              ),
            })}
      />
      <Chart
        {...shared}
        title="Divergence"
        about="nats a token"
        groups={curves.divergence}
        smoothing={smoothing}
        format={(value) => decimal(value, 3)}
      />
      <Chart
        {...shared}
        title="Completion length"
        about="tokens a rollout"
        groups={curves.length}
        smoothing={smoothing}
        format={(value) => count(value)}
      />
    </div>
  );
}
