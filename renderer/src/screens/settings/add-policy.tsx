import { useState } from "react";
import { Button } from "../../parts/button.tsx";
import { Segmented } from "../../parts/choice.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { DialogForm } from "../../parts/dialog-form.tsx";
import { FailureNote, Note } from "../../parts/states.tsx";
import { presentClient } from "../../service/connection.ts";
import { asFailure, type Failure } from "../../service/failure.ts";
import { invalidate } from "../../service/queries.ts";
import type { PolicyView } from "../../service/views.ts";
import { closeOverlay } from "../../state/overlays.ts";
import { ImportWeights, useWeightsImport } from "./import-weights.tsx";
import { blankForm, formOf, mistakesOf, type PolicyForm, policyInput } from "./policy-form.ts";
import { ServerFields } from "./server-fields.tsx";

/** What the server was found to be, before the dialog is left. */
function Probed({ id, capture, lost }: { readonly id: string; readonly capture: string; readonly lost: readonly string[] }) {
  return (
    <div className="px-4.5 py-3.5">
      <Note look={lost.length === 0 ? "info" : "warn"}>
        <b>
          {id} answers, and gives {capture}.
        </b>
        {lost.map((sentence) => (
          <span key={sentence} className="mt-1 block">
            {sentence}
          </span>
        ))}
      </Note>
    </div>
  );
}

type Found = { readonly id: string; readonly capture: string; readonly lost: readonly string[] };

interface AddPolicyProps {
  readonly edits?: PolicyView;
  /** What the form begins with. */
  readonly source?: "server" | "weights";
}

/** Adds or changes a server that answers model calls, and probes what it gives back; or takes in weights of this machine. */
export function AddPolicy({ edits, source: first = "server" }: AddPolicyProps) {
  const [source, setSource] = useState(first);
  const weights = useWeightsImport();
  const [form, setForm] = useState<PolicyForm>(edits === undefined ? blankForm : formOf(edits));
  const [tried, setTried] = useState(false);
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [found, setFound] = useState<Found | null>(null);
  // It is kept as soon as it is well formed: a probe that fails does not lose what was typed, and a second try replaces it.
  const [saved, setSaved] = useState(false);
  const mistakes = mistakesOf(form);

  const add = async (): Promise<void> => {
    setTried(true);
    if (Object.keys(mistakes).length > 0 || busy) return;
    setBusy(true);
    setFailure(null);
    const input = policyInput(form, edits !== undefined || saved);
    try {
      await presentClient().policies.add(input);
      setSaved(true);
      const { policy, lost } = await presentClient().policies.probe({ id: input.id });
      setFound({ id: input.id, capture: policy.capture ?? "nothing", lost });
    } catch (error) {
      setFailure(asFailure(error));
    }
    invalidate("policies");
    setBusy(false);
  };
  const server = source === "server";

  return (
    <Dialog
      title={edits === undefined ? "Add a policy" : `Change ${edits.id}`}
      width="38rem"
      footer={
        <>
          <span className="text-2xs text-muted">{server && found === null ? "One small call is sent to see what it gives back." : ""}</span>
          <span className="flex-1" />
          {(server ? found : weights.work.result) !== null ? (
            <Button look="primary" onClick={closeOverlay}>
              Done
            </Button>
          ) : (
            <>
              <Button look="ghost" keyShown="Esc" onClick={closeOverlay}>
                {weights.running ? "Close" : "Cancel"}
              </Button>
              {server ? (
                <Button look="primary" onClick={() => void add()} disabledBecause={busy ? "Being probed" : null}>
                  {edits === undefined ? "Add and probe" : "Save and probe"}
                </Button>
              ) : (
                <Button look="primary" onClick={() => void weights.begin()} disabledBecause={weights.running ? "Being imported" : null}>
                  Import
                </Button>
              )}
            </>
          )}
        </>
      }
    >
      {edits === undefined && found === null && (
        <div className="px-4.5 pt-3.5">
          <Segmented
            label="Source"
            value={source}
            onChange={setSource}
            options={[
              { value: "server", label: "A server" },
              { value: "weights", label: "Weights of this machine" },
            ]}
          />
        </div>
      )}
      {!server && <ImportWeights {...weights} />}
      {found !== null && <Probed {...found} />}
      {server && found === null && (
        <DialogForm onSubmit={() => void add()}>
          {failure !== null && (
            <>
              <FailureNote failure={failure} />
              {saved && <p className="m-0 text-2xs text-muted">It is saved. Correct it here and probe again, or close and probe it later.</p>}
            </>
          )}
          <ServerFields
            form={form}
            errors={tried ? mistakes : {}}
            change={(part) => setForm((before) => ({ ...before, ...part }))}
            editing={edits !== undefined || saved}
          />
        </DialogForm>
      )}
    </Dialog>
  );
}
