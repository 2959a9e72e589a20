import { useState } from "react";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { DialogForm } from "../../parts/dialog-form.tsx";
import { Field, TextInput } from "../../parts/field.tsx";
import { FailureNote } from "../../parts/states.tsx";
import { presentClient, useConnection } from "../../service/connection.ts";
import { asFailure, type Failure } from "../../service/failure.ts";
import { invalidate } from "../../service/queries.ts";
import { closeOverlay } from "../../state/overlays.ts";
import { useTaskSelection } from "../../state/task-selection.ts";
import { openScreen } from "../../state/workspace.ts";

const nameShape = /^[a-z0-9][a-z0-9-]*$/;

/** Writes a small valid package to start from, into the data folder's own tasks. */
export function NewTask() {
  const folder = useConnection((state) => state.info?.dataFolder ?? "");
  const [name, setName] = useState("");
  const [family, setFamily] = useState("");
  const [tried, setTried] = useState(false);
  const [failure, setFailure] = useState<Failure | null>(null);
  const mistake = nameShape.test(name) ? null : "Small letters, digits and dashes, for example csv-dedupe.";
  const path = `${folder}/tasks/${name === "" ? "…" : name}`;

  const create = async (): Promise<void> => {
    setTried(true);
    if (mistake !== null) return;
    try {
      const made = await presentClient().tasks.create({ path, name, ...(family.trim() === "" ? {} : { family: family.trim() }) });
      invalidate("tasks");
      useTaskSelection.setState({ path: made.path });
      openScreen("tasks");
      closeOverlay();
    } catch (error) {
      setFailure(asFailure(error));
    }
  };

  return (
    <Dialog
      title="New task"
      width="30rem"
      footer={
        <>
          <span className="flex-1" />
          <Button look="ghost" keyShown="Esc" onClick={closeOverlay}>
            Cancel
          </Button>
          <Button look="primary" onClick={() => void create()}>
            Create task
          </Button>
        </>
      }
    >
      <DialogForm onSubmit={() => void create()}>
        {failure !== null && <FailureNote failure={failure} />}
        <Field label="Name" error={tried ? mistake : null}>
          {(ids) => <TextInput {...ids} value={name} onChange={(event) => setName(event.target.value)} />}
        </Field>
        <Field label="Family" about="optional">
          {(ids) => <TextInput {...ids} value={family} onChange={(event) => setFamily(event.target.value)} />}
        </Field>
        <p className="m-0 text-2xs text-muted">
          Writes task.toml, instruction.md, a Dockerfile, a verifier and a gold solution to <code className="break-all">{path}</code>.
        </p>
      </DialogForm>
    </Dialog>
  );
}
