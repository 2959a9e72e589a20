import { useState } from "react";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { DialogForm } from "../../parts/dialog-form.tsx";
import { Field } from "../../parts/field.tsx";
import { PathInput } from "../../parts/path-input.tsx";
import { FailureNote, Note } from "../../parts/states.tsx";
import { presentClient, useConnection } from "../../service/connection.ts";
import { asFailure, type Failure } from "../../service/failure.ts";
import { invalidate } from "../../service/queries.ts";
import type { TaskCheckView, TaskImportView } from "../../service/views.ts";
import { closeOverlay } from "../../state/overlays.ts";
import { useTaskSelection } from "../../state/task-selection.ts";
import { openScreen } from "../../state/workspace.ts";
import { plural } from "../../words/numbers.ts";
import { FaultList } from "./faults.tsx";

type Answer = { readonly failure: Failure } | { readonly imported: TaskImportView } | { readonly checked: TaskCheckView } | null;

function showTask(path: string): void {
  useTaskSelection.setState({ path });
  openScreen("tasks");
  closeOverlay();
}

function Imported({ task }: { readonly task: TaskImportView }) {
  const sound = task.valid && task.wants.length === 0;
  return (
    <div className="grid gap-2">
      <Note look={sound ? "info" : task.valid ? "warn" : "bad"}>
        <b>
          {!task.valid
            ? "The package has errors and was not copied. Correct them where it lies, then import it again."
            : sound
              ? "The task is ready to run."
              : "The task is sound; this machine lacks something."}
        </b>
        {task.wants.map((want) => (
          <span key={want} className="mt-1 block">
            {want}
          </span>
        ))}
        {task.valid && <code className="mt-1 block break-all">{task.path}</code>}
      </Note>
      <Faults faults={task.faults} />
    </div>
  );
}

const Faults = ({ faults }: { readonly faults: TaskCheckView["faults"] }) =>
  faults.length === 0 ? null : (
    <div className="max-h-56 overflow-auto rounded-2 border border-line">
      <FaultList faults={faults} />
    </div>
  );

function Checked({ task }: { readonly task: TaskCheckView }) {
  const errors = task.faults.filter(({ severity }) => severity === "error").length;
  return (
    <div className="grid gap-2">
      <Note look={task.valid ? "info" : "bad"}>
        {task.valid ? "The package is sound." : `${plural(errors, "error")} to correct.`} Nothing was copied.
      </Note>
      <Faults faults={task.faults} />
    </div>
  );
}

/** A Harbor package from a folder, an archive or a git address is copied in and checked by line. */
export function ImportTask() {
  const dataFolder = useConnection((state) => state.info?.dataFolder ?? "");
  const [source, setSource] = useState("");
  const [to, setTo] = useState("");
  const [tried, setTried] = useState(false);
  const [busy, setBusy] = useState(false);
  const [answer, setAnswer] = useState<Answer>(null);
  const mistake = source.trim() === "" ? "A folder, an archive or an address, for example https://github.com/org/tasks.git." : null;
  const imported = answer !== null && "imported" in answer ? answer.imported : null;
  const isHere = imported?.valid === true;

  const ask = async (question: () => Promise<Answer>): Promise<void> => {
    setTried(true);
    if (mistake !== null || busy) return;
    setBusy(true);
    setAnswer(null);
    setAnswer(await question().catch((error: unknown) => ({ failure: asFailure(error) })));
    setBusy(false);
  };
  const check = () => ask(async () => ({ checked: await presentClient().tasks.check({ path: source.trim() }) }));
  const read = () =>
    ask(async () => {
      const imported = await presentClient().tasks.import({ source: source.trim(), ...(to.trim() === "" ? {} : { to: to.trim() }) });
      invalidate("tasks");
      return { imported };
    });

  return (
    <Dialog
      title="Import a task"
      width="38rem"
      footer={
        <>
          <span className="text-2xs text-muted">Copied and checked; nothing of it is run.</span>
          <span className="flex-1" />
          <Button look="ghost" keyShown="Esc" onClick={closeOverlay}>
            Close
          </Button>
          {!isHere && (
            <Button onClick={() => void check()} disabledBecause={busy ? "Being read" : null}>
              Check only
            </Button>
          )}
          {!isHere ? (
            <Button look="primary" onClick={() => void read()} disabledBecause={busy ? "Being imported" : null}>
              Import task
            </Button>
          ) : (
            <Button look="primary" onClick={() => showTask(imported.path)}>
              Show task
            </Button>
          )}
        </>
      }
    >
      <DialogForm onSubmit={() => void read()}>
        {answer !== null && "failure" in answer && <FailureNote failure={answer.failure} />}
        <Field label="From" error={tried ? mistake : null}>
          {(ids) => (
            <PathInput {...ids} value={source} onPath={setSource} choose="both" placeholder="folder, archive (.tar.gz, .zip) or git address" />
          )}
        </Field>
        <Field label="To">{(ids) => <PathInput {...ids} value={to} onPath={setTo} choose="folder" placeholder={`${dataFolder}/tasks/…`} />}</Field>
        {busy && (
          <p className="m-0 text-xs text-muted" role="status">
            Reading the package
          </p>
        )}
        {answer !== null && "checked" in answer && <Checked task={answer.checked} />}
        {imported !== null && <Imported task={imported} />}
      </DialogForm>
    </Dialog>
  );
}
