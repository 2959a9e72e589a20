import { useState } from "react";
import { Button } from "../../parts/button.tsx";
import { Segmented } from "../../parts/choice.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { DialogForm } from "../../parts/dialog-form.tsx";
import { Field, TextInput } from "../../parts/field.tsx";
import { FailureNote } from "../../parts/states.tsx";
import { presentClient } from "../../service/connection.ts";
import { asFailure, type Failure } from "../../service/failure.ts";
import { invalidate } from "../../service/queries.ts";
import { useQuery } from "../../service/use-query.ts";
import { rolloutQuery } from "../../service/views.ts";
import { closeOverlay } from "../../state/overlays.ts";
import { failureCategories } from "./failure-categories.ts";

/** A person's word on how an attached session went: no verifier looked at it. */
export function GradeDialog({ rollout: id }: { readonly rollout: string }) {
  const { value: rollout } = useQuery(rolloutQuery(id));
  const [status, setStatus] = useState<"succeeded" | "failed">(rollout?.status === "failed" ? "failed" : "succeeded");
  const [cause, setCause] = useState(rollout?.cause ?? "");
  const [note, setNote] = useState(rollout?.detail ?? "");
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure | null>(null);

  const grade = async (): Promise<void> => {
    if (busy) return;
    setBusy(true);
    const known = failureCategories.find((category) => category.value === cause)?.value ?? null;
    try {
      await presentClient().attach.grade({ id, status, cause: status === "failed" ? known : null, note: note.trim() === "" ? null : note.trim() });
      invalidate(`rollout:${id}`);
      closeOverlay();
    } catch (error) {
      setFailure(asFailure(error));
      setBusy(false);
    }
  };

  return (
    <Dialog
      title="Grade the session"
      width="32rem"
      footer={
        <>
          <span className="text-2xs text-muted">{status === "succeeded" ? "Reward 1.00" : "Reward 0.00"}</span>
          <span className="flex-1" />
          <Button look="ghost" keyShown="Esc" onClick={closeOverlay}>
            Cancel
          </Button>
          <Button look="primary" onClick={() => void grade()} disabledBecause={busy ? "Being kept" : null}>
            Grade
          </Button>
        </>
      }
    >
      <DialogForm onSubmit={() => void grade()}>
        {failure !== null && <FailureNote failure={failure} />}
        <Field label="Outcome">
          {() => (
            <Segmented
              label="Outcome"
              value={status}
              onChange={setStatus}
              options={[
                { value: "succeeded", label: "Succeeded" },
                { value: "failed", label: "Failed" },
              ]}
            />
          )}
        </Field>
        {status === "failed" && (
          <Field label="Category">
            {(ids) => (
              <select {...ids} className="control w-full" value={cause} onChange={(event) => setCause(event.target.value)}>
                <option value="">not said</option>
                {failureCategories.map((category) => (
                  <option key={category.value} value={category.value}>
                    {category.title}
                  </option>
                ))}
              </select>
            )}
          </Field>
        )}
        <Field label="Note">
          {(ids) => (
            <TextInput {...ids} value={note} placeholder="It looked in the wrong folder." onChange={(event) => setNote(event.target.value)} />
          )}
        </Field>
      </DialogForm>
    </Dialog>
  );
}
