import { Hint } from "../../parts/hint.tsx";
import { Icon } from "../../parts/icon.tsx";
import { PaneHeader, PaneTitle } from "../../parts/pane.tsx";
import { rewardStep } from "../../parts/reward-bar.tsx";
import { useQuery } from "../../service/use-query.ts";
import { type CompareCell, type CompareColumn, type CompareGrid, type Estimate, type MeasureView, measuresQuery } from "../../service/views.ts";
import { taskWords } from "../../words/names.ts";
import { count, decimal, missing, plural, plusMinus, reward } from "../../words/numbers.ts";
import { seconds } from "../../words/times.ts";
import { columnNames, fewInCell } from "./columns.ts";

interface GridPaneProps {
  readonly grid: CompareGrid;
  readonly a: string | null;
  readonly b: string | null;
  readonly task: string | null;
  readonly onCell: (column: string, task: string) => void;
}

function RewardScale() {
  return (
    <span className="flex items-center text-2xs text-muted">
      <span className="pr-1.25">0</span>
      {[0, 1, 2, 3, 4, 5, 6].map((step) => (
        <i
          key={step}
          className="inline-block h-3 w-4 shadow-[inset_0_0_0_0.5px_var(--of-border-strong)]"
          style={{ background: `var(--of-reward-${step})` }}
        />
      ))}
      <span className="pl-1.25">1</span>
    </span>
  );
}

function footnote({ n, infrastructure, unended }: Pick<CompareCell, "n" | "infrastructure" | "unended">): string {
  return [`n ${n}`, ...(infrastructure > 0 ? [`${infrastructure} infra`] : []), ...(unended > 0 ? [`${unended} not ended`] : [])].join(" · ");
}

/** Mean, ± and n on the shade of the mean; hatched where too little is known. */
export function EstimateCell({ estimate, note, few }: { readonly estimate: Estimate; readonly note: string; readonly few: boolean }) {
  const { mean, low, high } = estimate;
  if (mean === null)
    return (
      <span className="hatch flex h-full items-center justify-center gap-1 rounded-1 text-masked shadow-[inset_0_0_0_1px_var(--of-hatch)]">
        <span className="bg-surface px-1 text-3xs font-medium">
          <b className="text-2xs">{missing}</b> {note}
        </span>
      </span>
    );
  const around = few ? null : plusMinus(low, high);
  return (
    <span
      className={`flex h-full flex-col items-center justify-center rounded-1 shadow-[inset_0_0_0_1px_var(--of-hatch)] ${few ? "hatch text-masked" : ""}`}
      style={few ? undefined : rewardStep(mean)}
    >
      <span className={few ? "bg-surface px-1" : ""}>
        <b className="text-xs">{reward(mean)}</b> <span className="text-2xs">{around?.replace("\u00a0", "")}</span>
      </span>
      <span className={`text-3xs leading-3 ${few ? "bg-surface px-1" : ""}`}>{note}</span>
    </span>
  );
}

function TaskCell({ cell, on, onChoose }: { readonly cell: CompareCell | undefined; readonly on: boolean; readonly onChoose: () => void }) {
  if (cell === undefined) return <td className="p-px text-center text-muted">{missing}</td>;
  return (
    <td className="h-10 p-px">
      <button
        type="button"
        aria-pressed={on}
        className={`focus-inside block h-full w-full rounded-1 tabular-nums ${on ? "outline-2 outline-fg" : ""}`}
        onClick={onChoose}
      >
        <EstimateCell
          estimate={cell}
          note={cell.n === 0 && cell.infrastructure > 0 ? `${cell.infrastructure} infrastructure` : footnote(cell)}
          few={cell.n < fewInCell}
        />
      </button>
    </td>
  );
}

function measureWords(estimate: Estimate | undefined, unit: MeasureView["unit"]): string {
  if (estimate === undefined || estimate.mean === null) return missing;
  if (unit === "share") return decimal(estimate.mean, 2);
  if (unit === "seconds") return seconds(estimate.mean);
  return estimate.mean >= 100 ? count(estimate.mean) : decimal(estimate.mean, 1);
}

function Behaviour({ columns }: { readonly columns: readonly CompareColumn[] }) {
  const { value: measures = {} } = useQuery(measuresQuery);
  const names = Object.keys(measures).filter((name) => name !== "success" && columns.some(({ behaviour }) => behaviour[name] !== undefined));
  if (names.length === 0) return null;
  return (
    <>
      <tr>
        <th colSpan={columns.length + 1} scope="colgroup" className="border-y border-line bg-header px-3 py-2 text-left text-xs font-strong">
          Behaviour <span className="pl-2 font-normal text-muted">mean per rollout</span>
        </th>
      </tr>
      {names.map((name) => {
        const measure = measures[name];
        if (measure === undefined) return null;
        return (
          <tr key={name} className="*:border-b *:border-line *:py-1.25">
            <th scope="row" className="max-w-0 truncate pr-2 pl-3 text-left font-normal">
              <Hint text={measure.definition}>
                {/* biome-ignore lint/a11y/noNoninteractiveTabindex: its definition is in the tooltip, which the keyboard must reach */}
                <span tabIndex={0} className="text-secondary underline decoration-line-control decoration-dotted underline-offset-2">
                  {measure.name.replace(/^./, (first) => first.toUpperCase())}
                </span>
              </Hint>
            </th>
            {columns.map((column) => (
              <td key={column.key} className="pr-3 text-right tabular-nums" title={`n ${column.behaviour[name]?.n ?? 0}`}>
                {measureWords(column.behaviour[name], measure.unit)}
              </td>
            ))}
          </tr>
        );
      })}
    </>
  );
}

function policyNote(columns: readonly CompareColumn[]): string {
  if (columns.every(({ step }) => step !== null)) return "evaluations of a training run";
  const policies = new Set(columns.map(({ policy }) => policy));
  return policies.size === 1 ? "same policy everywhere" : plural(policies.size, "policy", "policies");
}

/** Harness by task. A cell makes its column B, and shows its task in the paired table. */
export function GridPane({ grid, a, b, task, onCell }: GridPaneProps) {
  const names = columnNames(grid.columns);
  const cells = new Map(grid.cells.map((cell) => [`${cell.column}\n${cell.task}`, cell]));
  return (
    <>
      <PaneHeader>
        <PaneTitle>Harness by task</PaneTitle>
        <span className="truncate text-muted">{policyNote(grid.columns)}</span>
        <span className="flex-1" />
        <RewardScale />
        <span className="w-1.5" />
      </PaneHeader>
      <div className="min-h-0 flex-1 overflow-auto" data-pane-focus tabIndex={-1}>
        <table className="w-full table-fixed border-collapse text-xs" style={{ minWidth: `${9 + grid.columns.length * 5.5}rem` }}>
          <thead>
            <tr>
              <th className="w-36 pl-3 text-left text-2xs font-medium text-muted">Task</th>
              {grid.columns.map(({ key }) => (
                <th key={key} scope="col" className="px-1 py-2 text-center align-bottom font-strong">
                  <span className="block truncate">
                    {key === a ? "A " : key === b ? "B " : ""}
                    {names.get(key)?.name}
                  </span>
                  <span className="block truncate text-2xs font-normal text-muted" title={names.get(key)?.about}>
                    {names.get(key)?.about}
                  </span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {grid.tasks.map((each) => (
              <tr key={each}>
                <th scope="row" className="truncate pr-2 pl-3 text-left font-normal" title={each}>
                  {taskWords(each)}
                </th>
                {grid.columns.map(({ key }) => (
                  <TaskCell key={key} cell={cells.get(`${key}\n${each}`)} on={key === b && each === task} onChoose={() => onCell(key, each)} />
                ))}
              </tr>
            ))}
            <tr className="*:border-t *:border-line-strong">
              <th scope="row" className="py-2 pr-2 pl-3 text-left font-strong">
                Mean over tasks
              </th>
              {grid.columns.map(({ key, success, tasks }) => (
                <td key={key} className="text-center tabular-nums">
                  <b>{reward(success.mean)}</b>{" "}
                  <span className="text-2xs">{tasks > 1 ? plusMinus(success.low, success.high)?.replace("\u00a0", "") : ""}</span>
                  <span className="block text-3xs leading-3 text-secondary">{plural(tasks, "task")}</span>
                </td>
              ))}
            </tr>
            <tr>
              <td colSpan={grid.columns.length + 1} className="px-3 pt-1 pb-3">
                <span className="flex gap-2 text-2xs leading-4 text-secondary">
                  <Icon name="infra" size={0.875} className="mt-px text-infra" />
                  Infrastructure failures are counted apart and are in no mean. {grid.order}
                </span>
              </td>
            </tr>
            <Behaviour columns={grid.columns} />
          </tbody>
        </table>
      </div>
    </>
  );
}
