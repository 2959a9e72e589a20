import { useState } from "react";
import { startDialogWork } from "../../actions/dialog-work.ts";
import { Button } from "../../parts/button.tsx";
import { Segmented } from "../../parts/choice.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { DialogForm } from "../../parts/dialog-form.tsx";
import { Field } from "../../parts/field.tsx";
import { PathInput } from "../../parts/path-input.tsx";
import { Empty, Note } from "../../parts/states.tsx";
import { WalkedList, walkedItem } from "../../parts/walked-list.tsx";
import { WorkLines } from "../../parts/work-lines.tsx";
import { stopWork, useLongWork } from "../../service/long-work.ts";
import { invalidate } from "../../service/queries.ts";
import { useQuery } from "../../service/use-query.ts";
import { type RegradeReport, type RegradeRow, regradedQuery } from "../../service/views.ts";
import { closeOverlay, openOverlay } from "../../state/overlays.ts";
import { rolloutPlace } from "../../state/places.ts";
import { openPlace } from "../../state/workspace.ts";
import { shortId, taskWords } from "../../words/names.ts";
import { count, plural } from "../../words/numbers.ts";
import { defaultShown, rowsShown, type Shown } from "./rows-shown.ts";
import { VerdictChip } from "./verdict.tsx";

/** More rows than a person reads would only make the dialog slow. */
const shownAtMost = 500;

const columns =
  "grid grid-cols-[4.5rem_minmax(6rem,1fr)_6rem_9rem_1rem_9rem_4rem] items-center gap-x-2 px-3 slim:grid-cols-[4.5rem_minmax(5rem,1fr)_9rem_1rem_9rem]";

function open(rollout: string): void {
  closeOverlay();
  openPlace(rolloutPlace(rollout, { view: "verifier" }), { preview: true });
}

function Row({ row, isStop }: { readonly row: RegradeRow; readonly isStop: boolean }) {
  return (
    <button
      type="button"
      data-regraded={row.rollout}
      {...walkedItem(isStop)}
      onClick={() => open(row.rollout)}
      className={`focus-inside ${columns} min-h-row w-full border-b border-line text-left text-xs hover:bg-hover`}
    >
      <span className="font-mono text-2xs text-muted">{shortId(row.rollout)}</span>
      <span className="truncate" title={row.task}>
        {taskWords(row.task)}
      </span>
      <span className="truncate text-secondary slim:hidden">{row.harness}</span>
      <VerdictChip grade={row.before} />
      <span className="text-muted" aria-hidden="true">
        →
      </span>
      {row.after === null ? <span className="truncate text-muted">skipped</span> : <VerdictChip grade={row.after} />}
      <span className="slim:hidden">{row.flipped ? <b className="text-accent">flipped</b> : ""}</span>
      {(row.skipped ?? row.after?.detail ?? null) !== null && (
        <span className="col-span-full pb-1.5 text-2xs leading-[0.9375rem] text-muted">{row.skipped ?? row.after?.detail}</span>
      )}
    </button>
  );
}

/** Which verdicts are another one now; each row leads to its rollout. */
function Review({ report }: { readonly report: RegradeReport }) {
  const [chosen, setChosen] = useState<Shown | null>(null);
  const shown = chosen ?? defaultShown(report);
  const rows = rowsShown(report, shown);
  return (
    <section aria-label="Verdicts">
      <div className="flex items-center gap-2 border-y border-line bg-header px-3 py-1.5 text-xs">
        <span className="flex-1">
          <b>{plural(report.flipped, "verdict")} flipped</b>
          <span className="text-muted">
            {" "}
            of {report.graded} graded again{report.skipped > 0 ? `, ${report.skipped} skipped` : ""}
          </span>
        </span>
        <Segmented<Shown>
          small
          label="Which rollouts"
          value={shown}
          onChange={setChosen}
          options={[
            { value: "flipped", label: `Flipped ${report.flipped}` },
            { value: "same", label: `Same ${report.graded - report.flipped}` },
            { value: "skipped", label: `Skipped ${report.skipped}` },
          ]}
        />
      </div>
      <div className={`${columns} h-row-header border-b border-line text-2xs font-medium text-muted`}>
        <span>Rollout</span>
        <span>Task</span>
        <span className="slim:hidden">Harness</span>
        <span>When it ran</span>
        <span />
        <span>Now</span>
        <span className="slim:hidden" />
      </div>
      <WalkedList className="max-h-80 min-h-24 overflow-auto">
        {rows.slice(0, shownAtMost).map((row, index) => (
          <Row key={row.rollout} row={row} isStop={index === 0} />
        ))}
        {rows.length > shownAtMost && (
          <p className="m-0 p-3 text-xs text-muted">
            The first {count(shownAtMost)} of {count(rows.length)}. On the command line <code>openforge runs regrade --json</code> lists them all.
          </p>
        )}
        {rows.length === 0 && <p className="m-0 p-3 text-xs text-muted">{shown === "flipped" ? "No verdict is another one." : "None."}</p>}
      </WalkedList>
    </section>
  );
}

/** Grades kept work with the verifier as it is now, and lists the verdicts that flip. Grades are added; the old ones stay. */
export function RegradeDialog({ id, label }: { readonly id: string; readonly label: string }) {
  const key = `regrade:${id}`;
  const [task, setTask] = useState("");
  const before = useQuery(regradedQuery(id));
  const work = useLongWork<RegradeReport>(key);
  const running = work.status === "running";
  const report = work.result ?? (before.value !== undefined && before.value.rows.length > 0 ? before.value : null);

  const regrade = async (): Promise<void> => {
    if (running) return;
    await startDialogWork<RegradeReport>({
      key,
      begin: (client, signal) => client.rollouts.regrade({ id, ...(task.trim() === "" ? {} : { task: task.trim() }) }, { signal }),
      isShown: (open) => open.kind === "regrade" && open.id === id,
      news: ({ flipped, graded }) => ({
        title: `${label}: ${plural(flipped, "verdict")} flipped`,
        text: `${plural(graded, "rollout")} graded again.`,
        action: { verb: "Review", run: () => openOverlay({ kind: "regrade", id, label }) },
      }),
    });
    for (const kind of ["regraded:", "grades:"]) invalidate(kind);
  };

  return (
    <Dialog
      title={`Regrade ${label}`}
      width="48rem"
      footer={
        <>
          <span className="text-2xs text-muted">Grades are added beside those that the rollouts got when they ran.</span>
          <span className="flex-1" />
          <Button look="ghost" keyShown="Esc" onClick={closeOverlay}>
            Close
          </Button>
          <Button look="primary" onClick={() => void regrade()} disabledBecause={running ? "Being graded" : null}>
            {report === null ? "Regrade" : "Regrade again"}
          </Button>
        </>
      }
    >
      <DialogForm onSubmit={() => void regrade()}>
        <Field label="Verifier of">
          {(ids) => <PathInput {...ids} value={task} onPath={setTask} choose="folder" placeholder="each rollout's own task, as it is on disk now" />}
        </Field>
        <WorkLines work={work} onStop={() => stopWork(key)} done={null} inForm />
        {report === null && !running && work.failure === null && (
          <Note look="plain">
            The verifier runs anew over the final state that a rollout has kept (<b>Keep workspaces</b> in a new experiment), else over its artifacts
            alone. Correct the verifier first, then regrade.
          </Note>
        )}
      </DialogForm>
      {report !== null && <Review report={report} />}
      {report !== null && report.rows.length === 0 && <Empty title="Nothing was graded" text="The experiment has no ended rollouts." />}
    </Dialog>
  );
}
