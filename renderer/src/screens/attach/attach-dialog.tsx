import { useState } from "react";
import { showExperiment } from "../../actions/first-run.ts";
import { copyText } from "../../actions/links.ts";
import { Button } from "../../parts/button.tsx";
import { Segmented } from "../../parts/choice.tsx";
import { CopyLine } from "../../parts/copy-line.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { DialogForm } from "../../parts/dialog-form.tsx";
import { Field, TextInput } from "../../parts/field.tsx";
import { PolicySelect } from "../../parts/policy-select.tsx";
import { FailureNote, Note } from "../../parts/states.tsx";
import { presentClient } from "../../service/connection.ts";
import { asFailure, type Failure } from "../../service/failure.ts";
import { invalidate } from "../../service/queries.ts";
import type { Attachment } from "../../service/views.ts";
import { closeOverlay } from "../../state/overlays.ts";
import { exportLines, programKinds } from "../../words/programs.ts";

type Opened = Pick<Attachment, "experiment" | "baseUrl" | "dialects"> & { readonly key: string };

/** The address and its key, which is told this once, in the words that programs take. */
function Address({ opened }: { readonly opened: Opened }) {
  const kinds = programKinds(opened, opened.key);
  const [title, setTitle] = useState(kinds[0]?.title ?? "");
  const kind = kinds.find((each) => each.title === title) ?? kinds[0];
  return (
    <div className="grid gap-2.5 px-4.5 py-3.5">
      <Note look="warn">
        <b>The key is told once.</b> Copy it now; it opens the model routes of this address and nothing else.
      </Note>
      <CopyLine label="Base URL" value={opened.baseUrl} what="Base URL" />
      <CopyLine label="Key" value={opened.key} what="Key" />
      <div className="mt-1 flex items-center gap-2.5 text-xs">
        <span className="w-22 flex-none text-secondary">For</span>
        <Segmented small label="For" value={title} onChange={setTitle} options={kinds.map((each) => ({ value: each.title, label: each.title }))} />
        <span className="flex-1" />
        {kind !== undefined && (
          <Button small onClick={() => void copyText(exportLines(kind.settings), "Lines for a shell")}>
            Copy lines
          </Button>
        )}
      </div>
      {kind !== undefined && (
        <pre className="m-0 overflow-auto rounded-2 bg-sunken px-2.5 py-2 text-xs leading-[1.125rem] break-all whitespace-pre-wrap">
          {exportLines(kind.settings)}
        </pre>
      )}
    </div>
  );
}

/** Records a program outside any sandbox: it gets an address and a key, and each of its sessions becomes a rollout. */
export function AttachDialog() {
  const [name, setName] = useState("");
  const [policy, setPolicy] = useState("scripted");
  const [tried, setTried] = useState(false);
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [opened, setOpened] = useState<Opened | null>(null);
  const mistake = name.trim() === "" ? "A name for what is recorded, for example my-agent." : null;

  const open = async (): Promise<void> => {
    setTried(true);
    if (mistake !== null || busy) return;
    setBusy(true);
    try {
      const attached = await presentClient().attach.start({ name: name.trim(), policy });
      setOpened(attached);
      invalidate("attachments");
      invalidate("experiments");
    } catch (error) {
      setFailure(asFailure(error));
      setBusy(false);
    }
  };

  if (opened !== null)
    return (
      <Dialog
        title={`${name.trim()} is being recorded`}
        width="40rem"
        footer={
          <>
            <span className="text-2xs text-muted">Sessions appear in Runs as they begin. Stop it there.</span>
            <span className="flex-1" />
            <Button
              look="primary"
              onClick={() => {
                closeOverlay();
                showExperiment(opened.experiment);
              }}
            >
              Show in Runs
            </Button>
          </>
        }
      >
        <Address opened={opened} />
      </Dialog>
    );
  return (
    <Dialog
      title="Attach a program"
      width="34rem"
      footer={
        <>
          <span className="flex-1" />
          <Button look="ghost" keyShown="Esc" onClick={closeOverlay}>
            Cancel
          </Button>
          <Button look="primary" onClick={() => void open()} disabledBecause={busy ? "Being opened" : null}>
            Open an address
          </Button>
        </>
      }
    >
      <DialogForm onSubmit={() => void open()}>
        {failure !== null && <FailureNote failure={failure} />}
        <p className="m-0 text-xs leading-[1.0625rem] text-secondary">
          A program outside any sandbox sends its model calls to an address here. The policy answers, everything is kept, and each session becomes a
          rollout that you grade and correct.
        </p>
        <Field label="Name" error={tried ? mistake : null}>
          {(ids) => <TextInput {...ids} value={name} placeholder="my-agent" onChange={(event) => setName(event.target.value)} />}
        </Field>
        <Field label="Policy">{({ id }) => <PolicySelect id={id} value={policy} onChange={setPolicy} />}</Field>
      </DialogForm>
    </Dialog>
  );
}
