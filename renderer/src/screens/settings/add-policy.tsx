import { useState } from "react";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Field, TextInput } from "../../parts/field.tsx";
import { FailureNote } from "../../parts/states.tsx";
import { presentClient } from "../../service/connection.ts";
import { asFailure, type Failure } from "../../service/failure.ts";
import { invalidate } from "../../service/queries.ts";
import { notify } from "../../state/notices.ts";
import { closeOverlay } from "../../state/overlays.ts";

interface Form {
  readonly id: string;
  readonly url: string;
  readonly kind: "" | "vllm" | "openai-compatible";
  readonly model: string;
  readonly keyVariable: string;
  readonly tokenizer: string;
}
const blank: Form = { id: "", url: "", kind: "", model: "", keyVariable: "", tokenizer: "" };

function mistakesOf(form: Form): Partial<Record<keyof Form, string>> {
  return {
    ...(form.id.trim() === "" ? { id: "A short name, for example qwen3-4b." } : {}),
    ...(/^https?:\/\/\S+$/.test(form.url.trim()) ? {} : { url: "An address of HTTP, for example http://127.0.0.1:8000." }),
    ...(form.keyVariable === "" || /^[A-Za-z_]\w*$/.test(form.keyVariable.trim())
      ? {}
      : { keyVariable: "The name of an environment variable, for example OPENAI_API_KEY. The key itself is never stored." }),
  };
}

/** Adds an endpoint that answers model calls, and probes what it gives back. */
export function AddPolicy() {
  const [form, setForm] = useState(blank);
  const [tried, setTried] = useState(false);
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure | null>(null);
  const mistakes = mistakesOf(form);
  const shown = tried ? mistakes : {};
  const change = (part: Partial<Form>): void => setForm({ ...form, ...part });

  const add = async (): Promise<void> => {
    setTried(true);
    if (Object.keys(mistakes).length > 0 || busy) return;
    setBusy(true);
    const id = form.id.trim();
    const given = { model: form.model.trim(), keyVariable: form.keyVariable.trim(), tokenizer: form.tokenizer.trim() };
    try {
      await presentClient().policies.add({
        id,
        url: form.url.trim(),
        ...(form.kind === "" ? {} : { kind: form.kind }),
        ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== "")),
      });
      invalidate("policies");
      const { policy } = await presentClient().policies.probe({ id });
      invalidate("policies");
      notify({ tone: "success", title: `${id} answers`, text: `It gives ${policy.capture ?? "nothing"}.` });
      closeOverlay();
    } catch (error) {
      setFailure(asFailure(error));
      setBusy(false);
    }
  };

  return (
    <Dialog
      title="Add an endpoint"
      width="34rem"
      footer={
        <>
          <span className="text-2xs text-muted">One small call is sent to see what it gives back.</span>
          <span className="flex-1" />
          <Button look="ghost" keyShown="Esc" onClick={closeOverlay}>
            Cancel
          </Button>
          <Button look="primary" onClick={() => void add()} disabledBecause={busy ? "Being probed" : null}>
            Add and probe
          </Button>
        </>
      }
    >
      <form
        className="grid gap-2.5 px-4.5 py-3.5"
        onSubmit={(event) => {
          event.preventDefault();
          void add();
        }}
      >
        {failure !== null && <FailureNote failure={failure} />}
        <Field label="Name" error={shown.id ?? null}>
          {(ids) => <TextInput {...ids} value={form.id} onChange={(event) => change({ id: event.target.value })} />}
        </Field>
        <Field label="Address" error={shown.url ?? null}>
          {(ids) => (
            <TextInput
              {...ids}
              className="font-mono"
              placeholder="http://127.0.0.1:8000"
              value={form.url}
              onChange={(event) => change({ url: event.target.value })}
            />
          )}
        </Field>
        <Field label="Kind">
          {(ids) => (
            <select {...ids} className="control w-60" value={form.kind} onChange={(event) => change({ kind: event.target.value as Form["kind"] })}>
              <option value="">Found by asking</option>
              <option value="vllm">vLLM: token ids and log-probs</option>
              <option value="openai-compatible">OpenAI-compatible: text only</option>
            </select>
          )}
        </Field>
        <Field label="Model" about="when it serves several">
          {(ids) => <TextInput {...ids} className="w-60!" value={form.model} onChange={(event) => change({ model: event.target.value })} />}
        </Field>
        <Field label="Key variable" about="where the key is read from" error={shown.keyVariable ?? null}>
          {(ids) => (
            <TextInput
              {...ids}
              className="w-60! font-mono"
              placeholder="OPENAI_API_KEY"
              value={form.keyVariable}
              onChange={(event) => change({ keyVariable: event.target.value })}
            />
          )}
        </Field>
        <Field label="Tokenizer" about="folder with tokenizer.json">
          {(ids) => (
            <TextInput {...ids} className="w-60! font-mono" value={form.tokenizer} onChange={(event) => change({ tokenizer: event.target.value })} />
          )}
        </Field>
        <button type="submit" className="hidden" aria-hidden="true" tabIndex={-1} />
      </form>
    </Dialog>
  );
}
