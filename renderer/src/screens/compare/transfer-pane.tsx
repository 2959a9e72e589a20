import { PaneHeader, PaneTitle } from "../../parts/pane.tsx";
import { useQuery } from "../../service/use-query.ts";
import { type TransferMatrix, transferQuery } from "../../service/views.ts";
import { openTrain } from "../../state/workspace.ts";
import { policyWords } from "../../words/names.ts";
import { plural } from "../../words/numbers.ts";
import { EstimateCell } from "./grid-pane.tsx";

const fewTasks = 5;

const rowName = (trained: readonly string[]): string => (trained.length === 0 ? "as it came" : trained.join(" + "));

function Matrix({ matrix }: { readonly matrix: TransferMatrix }) {
  return (
    <section aria-label={`Transfer of ${policyWords(matrix.base)}`}>
      <PaneHeader>
        <PaneTitle>Transfer</PaneTitle>
        <span className="truncate text-muted" title={matrix.base}>
          {policyWords(matrix.base)}; rows: trained in, columns: evaluated in
        </span>
      </PaneHeader>
      <div className="overflow-x-auto px-3 pt-1 pb-3">
        <table className="w-full table-fixed border-collapse text-xs" style={{ minWidth: `${8 + matrix.harnesses.length * 6}rem` }}>
          <thead>
            <tr>
              <td className="w-28" />
              {matrix.harnesses.map((harness) => (
                <th key={harness} scope="col" className="truncate px-1 py-1.5 font-strong">
                  {harness}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {matrix.rows.map((row) => (
              <tr key={rowName(row.trained)}>
                <th scope="row" className="truncate pr-2 text-left font-normal" title={rowName(row.trained)}>
                  <button type="button" className="text-link hover:underline" onClick={() => openTrain({ id: row.runs[0] ?? null, step: null })}>
                    {rowName(row.trained)}
                  </button>
                </th>
                {row.cells.map((cell) => (
                  <td key={cell.harness} className="h-9 p-px text-center tabular-nums">
                    <div
                      className={`h-full rounded-1 ${row.trained.includes(cell.harness) ? "outline-1 -outline-offset-3 outline-dashed outline-fg" : ""}`}
                    >
                      <EstimateCell
                        estimate={cell}
                        note={
                          cell.n === 0
                            ? "not evaluated"
                            : cell.n < fewTasks
                              ? `n ${cell.n} too few`
                              : cell.seeds > 1
                                ? plural(cell.seeds, "seed")
                                : `n ${cell.n}`
                        }
                        few={cell.n > 0 && cell.n < fewTasks}
                      />
                    </div>
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
        <p className="m-0 mt-1.5 text-2xs text-muted">Dashed: trained in this harness. One seed: interval over tasks; several: over seeds.</p>
      </div>
    </section>
  );
}

/** Trained in one harness, evaluated in another, of every training run that was evaluated. */
export function Transfer() {
  const { value: matrices = [] } = useQuery(transferQuery);
  return matrices
    .filter(({ harnesses, rows }) => harnesses.length > 1 || rows.length > 1)
    .map((matrix) => <Matrix key={matrix.base} matrix={matrix} />);
}
