import { useState } from "react";
import { copyText } from "../../actions/links.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { DialogForm } from "../../parts/dialog-form.tsx";
import { Field, TextInput } from "../../parts/field.tsx";
import { FailureNote, Note } from "../../parts/states.tsx";
import { presentClient, useConnection } from "../../service/connection.ts";
import { asFailure, type Failure } from "../../service/failure.ts";
import { invalidate } from "../../service/queries.ts";
import { useHarnessSelection } from "../../state/harness-selection.ts";
import { closeOverlay } from "../../state/overlays.ts";
import { openScreen } from "../../state/workspace.ts";

const idShape = /^[a-z][a-z0-9-]*$/;

/** Writes a manifest to fill in: a further harness is a YAML file, no code. */
export function NewHarness() {
  const folder = useConnection((state) => state.info?.dataFolder ?? "");
  const [id, setId] = useState("");
  const [tried, setTried] = useState(false);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [path, setPath] = useState<string | null>(null);
  const mistake = idShape.test(id) ? null : "Small letters, digits and dashes, for example my-agent.";

  const create = async (): Promise<void> => {
    setTried(true);
    if (mistake !== null) return;
    try {
      setPath((await presentClient().harnesses.create({ id })).path);
      invalidate("harnesses");
      useHarnessSelection.setState({ id });
      openScreen("harnesses");
    } catch (error) {
      setFailure(asFailure(error));
    }
  };

  return (
    <Dialog
      title="New harness"
      width="32rem"
      footer={
        <>
          <span className="flex-1" />
          <Button look={path === null ? "ghost" : "primary"} keyShown="Esc" onClick={closeOverlay}>
            {path === null ? "Cancel" : "Done"}
          </Button>
          {path === null && (
            <Button look="primary" onClick={() => void create()}>
              Write manifest
            </Button>
          )}
        </>
      }
    >
      <DialogForm onSubmit={() => void create()}>
        {failure !== null && <FailureNote failure={failure} />}
        {path === null ? (
          <>
            <Field label="Id" error={tried ? mistake : null}>
              {(ids) => <TextInput {...ids} value={id} placeholder="my-agent" onChange={(event) => setId(event.target.value)} />}
            </Field>
            <p className="m-0 text-2xs leading-4 text-muted">
              Writes a commented manifest to <code className="break-all">{`${folder}/harnesses/${id === "" ? "…" : id}`}</code>: how the program is
              installed, started and told where its model is.
            </p>
          </>
        ) : (
          <Note look="info">
            <b>The manifest is written.</b> Fill it in with an editor, then probe {id} here.
            <span className="mt-1 flex items-center gap-2">
              <code className="min-w-0 break-all">{path}</code>
              <Button small onClick={() => void copyText(path, "Path")}>
                Copy path
              </Button>
            </span>
          </Note>
        )}
      </DialogForm>
    </Dialog>
  );
}
