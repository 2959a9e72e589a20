import { useMemo } from "react";
import { exportTraining } from "../../actions/exports.ts";
import { useCommands } from "../../commands/handlers.ts";
import { IconButton } from "../../parts/button.tsx";
import { Hint } from "../../parts/hint.tsx";
import { Facts, PaneHeader, PaneTitle, Section } from "../../parts/pane.tsx";
import { Note } from "../../parts/states.tsx";
import { useQuery } from "../../service/use-query.ts";
import { type Estimate, measuresQuery, type TrainingRunView } from "../../service/views.ts";
import { policyWords } from "../../words/names.ts";
import { bytes, count, decimal, missing, plusMinus } from "../../words/numbers.ts";
import { moment, seconds, span } from "../../words/times.ts";
import { type BeforeAfter, type BeforeAfterRow, beforeAfter } from "./before-after.ts";
import { WallTime } from "./wall-time.tsx";

function valueWords(value: number | null, unit: BeforeAfterRow["unit"]): string {
  if (value === null) return missing;
  if (unit === "share") return decimal(value, 2);
  if (unit === "seconds") return seconds(value);
  return Math.abs(value) >= 100 ? count(value) : decimal(value, 1);
}

function Change({ row }: { readonly row: BeforeAfterRow }) {
  const { before, after, unit, better } = row;
  if (before.mean === null || after.mean === null) return <span className="text-muted">{missing}</span>;
  const difference = after.mean - before.mean;
  const words = `${difference > 0 ? "+" : difference < 0 ? "−" : ""}${valueWords(Math.abs(difference), unit)}`;
  const worse = better !== null && (better === "higher" ? difference < 0 : difference > 0);
  return <span className={worse ? "text-(--of-delta-neg-3)" : ""}>{words}</span>;
}

const around = (estimate: Estimate): string => (estimate.n > 1 ? (plusMinus(estimate.low, estimate.high) ?? "") : "");

function Rows({ title, rows }: { readonly title: string; readonly rows: readonly BeforeAfterRow[] }) {
  if (rows.length === 0) return null;
  return (
    <table className="mt-2.5 w-full first:mt-0 table-fixed border-collapse text-xs tabular-nums">
      <thead>
        <tr className="text-2xs text-muted *:border-b *:border-line-strong *:pb-1 *:font-medium">
          <th className="text-left">{title}</th>
          <th className="w-18 text-right">before</th>
          <th className="w-18 text-right">after</th>
          <th className="w-14 text-right">change</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.name} className="*:border-b *:border-line *:py-1">
            <th className="truncate pr-1 text-left font-normal" scope="row">
              {row.definition === null ? (
                row.name
              ) : (
                <Hint text={row.definition}>
                  {/* biome-ignore lint/a11y/noNoninteractiveTabindex: its definition is in the tooltip, which the keyboard must reach */}
                  <span tabIndex={0} className="underline decoration-line-control decoration-dotted underline-offset-2">
                    {row.name}
                  </span>
                </Hint>
              )}
            </th>
            {[row.before, row.after].map((estimate, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: before, then after
              <td key={index} className="text-right whitespace-nowrap" title={`n ${estimate.n}`}>
                {valueWords(estimate.mean, row.unit)}
                {row.unit === "share" && <span className="block text-2xs text-muted">{around(estimate)}</span>}
              </td>
            ))}
            <td className="text-right align-top font-medium">
              <Change row={row} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The gain in one line, with what it rests on. */
function Gain({ run, table }: { readonly run: TrainingRunView; readonly table: BeforeAfter | null }) {
  if (table === null)
    return (
      <p className="m-0 text-2xs text-muted">
        {run.evaluations.length === 0
          ? "The run has not been evaluated yet."
          : `Before: ${decimal(run.evaluations[0]?.success.mean ?? null)} on held-out tasks. The next evaluation stands beside it.`}
      </p>
    );
  const { gain } = run;
  return (
    <>
      {gain !== null && gain.mean !== null && (
        <div className="flex items-baseline gap-2.5">
          <b className="text-xl leading-8 tabular-nums">
            {gain.mean > 0 ? "+" : ""}
            {decimal(gain.mean)}
          </b>
          <span className="text-2xs leading-4 text-secondary tabular-nums">
            {gain.low === null ? "no interval" : `95 % interval ${decimal(gain.low)} to ${decimal(gain.high)}`}
            <br />
            paired, {count(gain.n)} tasks: {gain.better} better, {gain.worse} worse, {gain.equal} same
          </span>
        </div>
      )}
      <Rows title="Held-out" rows={[table.success]} />
    </>
  );
}

const evaluated = ({ success: { before, after } }: BeforeAfter): string =>
  before.n === after.n ? count(before.n) : `${count(before.n)} and ${count(after.n)}`;

/** The open run as a whole: how it stands, what it has gained, where its time went. */
export function RunPane({ run }: { readonly run: TrainingRunView }) {
  const { value: measures } = useQuery(measuresQuery);
  useCommands({ "place.export": () => exportTraining(run) });
  const table = useMemo(() => beforeAfter(run, measures ?? {}), [run, measures]);
  const trained = run.points.reduce((sum, point) => sum + point.trainedTokens, 0);
  const unique = run.points.reduce((sum, point) => sum + point.uniqueTokens, 0);
  return (
    <>
      <PaneHeader>
        <PaneTitle>Run</PaneTitle>
        <span className="truncate font-mono text-2xs text-muted">{run.id}</span>
        <span className="flex-1" />
        <IconButton glyph="download" label="Export…" keyShown="Mod+E" onClick={() => exportTraining(run)} />
      </PaneHeader>
      <div className="min-h-0 flex-1 overflow-auto">
        {run.problem !== null && (
          <Section>
            <Note look="bad">
              <b>{run.problem.message}</b> {run.problem.remedy}
            </Note>
          </Section>
        )}
        <Section title="Before and after" aside={table === null ? undefined : `steps ${table.from} and ${table.to}, n ${evaluated(table)}`}>
          <Gain run={run} table={table} />
        </Section>
        <Section title="Wall time" aside={run.seconds.total > 0 ? span(run.seconds.total) : undefined}>
          <WallTime seconds={run.seconds} />
        </Section>
        <Section>
          <Facts
            labelWidth="5.5rem"
            rows={[
              ["Algorithm", run.algorithm],
              [
                "Policy",
                <span key="base" title={run.base}>
                  {policyWords(run.base)}
                </span>,
              ],
              ["Harness", run.harnesses.join(", ")],
              ["Backend", run.backend],
              ["Seed", run.seed],
              ["Started", moment(run.createdAt)],
              ["Ended", run.endedAt === null ? null : moment(run.endedAt)],
              ["Memory", run.memory === null ? null : `${bytes(run.memory.bytes)}: ${run.memory.plan}`],
              ["Tokens", unique === 0 ? null : `${count(trained)} trained of ${count(unique)} computed`],
            ]}
          />
        </Section>
        {table !== null && (
          <Section>
            <Rows title="Task family" rows={table.families} />
            <Rows title="Harness" rows={table.harnesses} />
            <Rows title="Behaviour" rows={table.behaviour} />
          </Section>
        )}
        <Section title="Run file">
          <pre className="m-0 overflow-auto rounded-2 bg-sunken px-2.5 py-2 text-xs leading-[1.125rem] break-words whitespace-pre-wrap">
            {run.file.trimEnd()}
          </pre>
        </Section>
      </div>
    </>
  );
}
