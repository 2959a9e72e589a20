import { useState } from "react";
import { Chip } from "../../parts/chip.tsx";
import type { Comparison } from "../../service/views.ts";
import { count, decimal, plural } from "../../words/numbers.ts";
import { type PairFilter, pairLists, signedWords } from "./columns.ts";
import { PairList } from "./pair-list.tsx";
import { TaskTable } from "./task-table.tsx";

const verdicts = {
  better: { word: "B is better", tone: "success", glyph: "ok" },
  worse: { word: "B is worse", tone: "paused", glyph: "warn" },
  unclear: { word: "no order shown", tone: "neutral", glyph: "minus" },
  "too-few": { word: "too few to rank", tone: "masked", glyph: "info" },
} as const;

export function VerdictChip({ comparison }: { readonly comparison: Comparison }) {
  const { word, tone, glyph } = verdicts[comparison.verdict];
  return (
    <span title={comparison.reason}>
      <Chip tone={tone} glyph={glyph}>
        {word}
      </Chip>
    </span>
  );
}

function Verdict({
  comparison,
  filter,
  onFilter,
}: {
  readonly comparison: Comparison;
  readonly filter: PairFilter | null;
  readonly onFilter: (filter: PairFilter | null) => void;
}) {
  const { gain, pairs, reason, verdict, leftOut } = comparison;
  const compared = pairs.filter(({ kind }) => kind !== "not-comparable").length;
  return (
    <div className="flex flex-none flex-wrap items-center gap-x-4 gap-y-2 border-b border-line px-3 py-2.5">
      <b className={`text-xl leading-8 tabular-nums ${verdict === "too-few" ? "text-muted" : ""}`}>{signedWords(gain.mean)}</b>
      <div className="min-w-40 flex-1 text-xs">
        <div className="tabular-nums">
          {gain.low === null || gain.high === null ? "no interval" : `95 % interval ${decimal(gain.low)} to ${decimal(gain.high)}`}
        </div>
        <div className="text-2xs leading-4 text-secondary">
          {plural(compared, "pair")}, {plural(gain.tasks, "task")}, clustered by task; {gain.worse} worse, {gain.better} better, {gain.equal} same.{" "}
          {verdict === "too-few" ? reason : ""}
          {leftOut.length > 0 ? ` ${plural(leftOut.length, "task")} without a partner left out.` : ""}
        </div>
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: four switches of one list are no fieldset */}
      <div className="flex gap-1.5" role="group" aria-label="Pairs by who succeeded">
        {pairLists.map(({ kind, word, ink }) => (
          <button
            key={kind}
            type="button"
            aria-pressed={filter === kind}
            onClick={() => onFilter(filter === kind ? null : kind)}
            className={`w-14 overflow-hidden rounded-2 border text-center ${filter === kind ? "border-accent bg-selected" : "border-line hover:bg-hover"}`}
          >
            <i className="block h-0.75" style={{ background: ink }} />
            <b className="block pt-1 text-xs leading-4 tabular-nums">{count(pairs.filter((pair) => pair.kind === kind).length)}</b>
            <span className="block pb-1 text-2xs leading-4 text-secondary">{word}</span>
          </button>
        ))}
      </div>
    </div>
  );
}

interface PairedProps {
  readonly comparison: Comparison;
  readonly task: string | null;
  readonly onTask: (task: string | null) => void;
}

/** B against A on the tasks that both have: the verdict, the tasks, the rollouts. */
export function Paired({ comparison, task, onTask }: PairedProps) {
  const [filter, setFilter] = useState<PairFilter | null>(null);
  return (
    <>
      <Verdict comparison={comparison} filter={filter} onFilter={setFilter} />
      <TaskTable tasks={comparison.tasks} chosen={task} onChoose={onTask} />
      <PairList key={`${task}/${filter}`} pairs={comparison.pairs} task={task} filter={filter} />
    </>
  );
}
