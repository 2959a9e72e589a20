import { type ComponentProps, useState } from "react";
import { runCommand } from "../../commands/handlers.ts";
import { commandById } from "../../commands/table.ts";
import { Button } from "../../parts/button.tsx";
import { Segmented } from "../../parts/choice.tsx";
import { CopyLine } from "../../parts/copy-line.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { DialogForm } from "../../parts/dialog-form.tsx";
import { Field, NumberInput, TextInput } from "../../parts/field.tsx";
import { PathInput } from "../../parts/path-input.tsx";
import { FailureNote, Note } from "../../parts/states.tsx";
import { presentClient } from "../../service/connection.ts";
import { asFailure, type Failure } from "../../service/failure.ts";
import { invalidate } from "../../service/queries.ts";
import { useQuery } from "../../service/use-query.ts";
import { type PolicyView, trainingsQuery } from "../../service/views.ts";
import { closeOverlay } from "../../state/overlays.ts";
import { trainedPolicies } from "../../words/policies.ts";
import { blankForm, formOf, kinds, kindWords, type Mistakes, mistakesOf, type PolicyForm, policyInput, takesTokenizer } from "./policy-form.ts";

interface FieldsProps {
  readonly form: PolicyForm;
  readonly errors: Mistakes;
  readonly change: (part: Partial<PolicyForm>) => void;
  readonly editing: boolean;
}

const wide = "grid grid-cols-[6rem_minmax(0,1fr)] items-start gap-x-2.5 text-xs";

function ServerFields({ form, errors, change, editing }: FieldsProps) {
  const text = (name: keyof PolicyForm): Pick<ComponentProps<"input">, "value" | "onChange"> => ({
    value: form[name],
    onChange: (event) => change({ [name]: event.target.value }),
  });
  return (
    <>
      <Field label="Name" error={errors.id ?? null}>
        {(ids) => <TextInput {...ids} {...text("id")} readOnly={editing} placeholder="qwen3-4b" />}
      </Field>
      <Field label="Kind">
        {(ids) => (
          <select
            {...ids}
            className="control w-full"
            value={form.kind}
            onChange={(event) => change({ kind: event.target.value as PolicyForm["kind"] })}
          >
            <option value="">Found by asking the server</option>
            {kinds.map((kind) => (
              <option key={kind} value={kind}>
                {kindWords[kind]}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label="Address" error={errors.url ?? null}>
        {(ids) => <TextInput {...ids} {...text("url")} className="font-mono" placeholder="http://127.0.0.1:8000" />}
      </Field>
      <Field label="Model" about="when it serves several">
        {(ids) => <TextInput {...ids} {...text("model")} className="w-60! flex-none" />}
      </Field>
      <Field label="Key variable" about="where the key is read from" error={errors.keyVariable ?? null}>
        {(ids) => <TextInput {...ids} {...text("keyVariable")} className="w-60! flex-none font-mono" placeholder="OPENAI_API_KEY" />}
      </Field>
      {takesTokenizer(form.kind) && (
        <Field label="Tokenizer">
          {(ids) => (
            <PathInput
              {...ids}
              value={form.tokenizer}
              onPath={(tokenizer) => change({ tokenizer })}
              choose="folder"
              placeholder="folder with tokenizer.json: prompts go in as token ids"
            />
          )}
        </Field>
      )}
      {form.kind === "ollama" && (
        <Field label="Window" about="tokens of prompt and answer; its own default is small" error={errors.contextWindow ?? null}>
          {(ids) => <NumberInput {...ids} {...text("contextWindow")} placeholder="32768" />}
        </Field>
      )}
      <div className={wide}>
        <span className="pt-1.5 text-secondary">Prices</span>
        <div className="grid gap-1.5">
          <div className="flex flex-wrap items-center gap-x-2.5 gap-y-1.5 text-2xs text-muted">
            {(
              [
                ["priceInput", "input", "Price of a million input tokens"],
                ["priceCached", "cached", "Price of a million cached input tokens"],
                ["priceOutput", "output", "Price of a million output tokens"],
              ] as const
            ).map(([name, word, label]) => (
              <span key={name} className="flex items-center gap-1.5">
                <NumberInput {...text(name)} className="w-16!" aria-label={label} aria-invalid={errors[name] !== undefined} />
                {word}
              </span>
            ))}
            <span>for a million tokens</span>
          </div>
          {(errors.priceInput ?? errors.priceOutput ?? errors.priceCached) !== undefined && (
            <p className="m-0" role="alert">
              {errors.priceInput ?? errors.priceOutput ?? errors.priceCached}
            </p>
          )}
        </div>
      </div>
      <Field label="Limit" about="in the same currency; once it is spent, no further call is sent" error={errors.spendingLimit ?? null}>
        {(ids) => <NumberInput {...ids} {...text("spendingLimit")} placeholder="20" />}
      </Field>
    </>
  );
}

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

/** Policies that need no server: how they come in, and what they are called where a policy is chosen. */
function OwnWeights() {
  const { value: runs = [] } = useQuery(trainingsQuery);
  const trained = trainedPolicies(runs);
  return (
    <div className="grid gap-3 px-4.5 py-3.5 text-xs leading-[1.0625rem]">
      <p className="m-0 text-secondary">
        <b className="text-fg">Weights of this machine</b> are sampled by the workbench itself, with token ids and log-probs. A GGUF file or a Hugging
        Face folder (Llama, Qwen2, Qwen3) is imported on the command line; it then stands in every list as <code>embedded:NAME</code>.
      </p>
      <CopyLine label="" value="npx openforge policy import FOLDER" what="Command" />
      <p className="m-0 text-secondary">
        <b className="text-fg">Training runs</b> offer what they have published, in every list of policies:
      </p>
      {trained.length === 0 ? (
        <p className="m-0 flex items-center gap-2 text-muted">
          No run has published a step yet.
          <Button
            small
            onClick={() => {
              closeOverlay();
              runCommand(commandById("train.new"));
            }}
          >
            New training run…
          </Button>
        </p>
      ) : (
        <div className="grid max-h-56 gap-1.5 overflow-auto">
          {trained.map((policy) => (
            <CopyLine key={policy.id} label={policy.about} value={policy.id} what="Name" />
          ))}
        </div>
      )}
    </div>
  );
}

type Source = "server" | "own";
type Found = { readonly id: string; readonly capture: string; readonly lost: readonly string[] };

/** Adds or changes a server that answers model calls, and probes what it gives back. */
export function AddPolicy({ edits }: { readonly edits?: PolicyView }) {
  const [source, setSource] = useState<Source>("server");
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
          {(!server || found !== null) && (
            <Button look="primary" onClick={closeOverlay}>
              Done
            </Button>
          )}
          {server && found === null && (
            <>
              <Button look="ghost" keyShown="Esc" onClick={closeOverlay}>
                Cancel
              </Button>
              <Button look="primary" onClick={() => void add()} disabledBecause={busy ? "Being probed" : null}>
                {edits === undefined ? "Add and probe" : "Save and probe"}
              </Button>
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
              { value: "own", label: "Weights of this machine" },
            ]}
          />
        </div>
      )}
      {!server && <OwnWeights />}
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
