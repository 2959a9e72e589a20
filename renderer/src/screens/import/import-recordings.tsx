import { useEffect, useState } from "react";
import { startDialogWork } from "../../actions/dialog-work.ts";
import { showExperiment } from "../../actions/first-run.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { DialogForm } from "../../parts/dialog-form.tsx";
import { Field } from "../../parts/field.tsx";
import { Facts } from "../../parts/pane.tsx";
import { PathInput } from "../../parts/path-input.tsx";
import { Note } from "../../parts/states.tsx";
import { WorkLines } from "../../parts/work-lines.tsx";
import { forgetWork, stopWork, useLongWork } from "../../service/long-work.ts";
import type { ImportReport } from "../../service/views.ts";
import { closeOverlay } from "../../state/overlays.ts";
import { plural } from "../../words/numbers.ts";
import { isWholePath } from "../../words/paths.ts";

const key = "import-recordings";

const kinds = [
  ["Harbor job", "the folder of a job, with a folder for each trial"],
  ["Inspect log", "an .eval file"],
  ["ATIF", "a trajectory as JSON"],
] as const;

function show({ experiment }: ImportReport): void {
  closeOverlay();
  showExperiment(experiment);
}

/** Other tools' recordings come in to look at and to compare with; nothing of them is run. */
export function ImportRecordings() {
  const [path, setPath] = useState("");
  const [tried, setTried] = useState(false);
  const work = useLongWork<ImportReport>(key);
  useEffect(() => forgetWork(key), []);
  const running = work.status === "running";
  const mistake = isWholePath(path) ? null : "A whole path, for example /home/ada/jobs/2026-03-01__10-00-00.";

  const read = async (): Promise<void> => {
    setTried(true);
    if (mistake !== null || running) return;
    await startDialogWork<ImportReport>({
      key,
      begin: (client, signal) => client.experiments.import({ path: path.trim() }, { signal }),
      isShown: (open) => open.kind === "import",
      news: ({ name, kind, rollouts, calls, experiment }) => ({
        title: `${name} imported`,
        text: `${kind}: ${plural(rollouts, "rollout")}, ${plural(calls, "call")}.`,
        action: { verb: "Show", run: () => showExperiment(experiment) },
      }),
    });
  };

  return (
    <Dialog
      title="Import recordings"
      width="36rem"
      footer={
        <>
          <span className="text-2xs text-muted">They come in read-only; nothing is run.</span>
          <span className="flex-1" />
          <Button look="ghost" keyShown="Esc" onClick={closeOverlay}>
            Close
          </Button>
          <Button look={work.result === null ? "primary" : "plain"} onClick={() => void read()} disabledBecause={running ? "Being imported" : null}>
            Import
          </Button>
          {work.result !== null && (
            <Button look="primary" onClick={() => work.result !== null && show(work.result)}>
              Show in Runs
            </Button>
          )}
        </>
      }
    >
      <DialogForm onSubmit={() => void read()} gap="gap-3">
        <Field label="Path" error={tried ? mistake : null}>
          {(ids) => <PathInput {...ids} value={path} onPath={setPath} choose="both" placeholder="/home/ada/jobs/2026-03-01__10-00-00" />}
        </Field>
        <div className="rounded-2 bg-sunken px-3 py-2">
          <Facts labelWidth="6rem" rows={kinds} />
        </div>
        <WorkLines work={work} onStop={() => stopWork(key)} done={null} inForm>
          {work.result !== null && (
            <Note look="info">
              <b>
                {work.result.name}: {plural(work.result.rollouts, "rollout")}, {plural(work.result.calls, "call")}.
              </b>
              {work.result.notes.map((note) => (
                <span key={note} className="mt-1 block">
                  {note}
                </span>
              ))}
            </Note>
          )}
        </WorkLines>
      </DialogForm>
    </Dialog>
  );
}
