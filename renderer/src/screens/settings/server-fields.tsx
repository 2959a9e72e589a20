import type { ComponentProps } from "react";
import { Field, NumberInput, TextInput } from "../../parts/field.tsx";
import { Icon } from "../../parts/icon.tsx";
import { PathInput } from "../../parts/path-input.tsx";
import { kinds, kindWords, type Mistakes, type PolicyForm, takesTokenizer } from "./policy-form.ts";

interface FieldsProps {
  readonly form: PolicyForm;
  readonly errors: Mistakes;
  readonly change: (part: Partial<PolicyForm>) => void;
  readonly editing: boolean;
}

const wide = "grid grid-cols-[6rem_minmax(0,1fr)] items-start gap-x-2.5 text-xs";

/** A server that answers model calls: where it is, what it takes, what it costs. */
export function ServerFields({ form, errors, change, editing }: FieldsProps) {
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
            <p className="m-0 flex gap-1.5" role="alert">
              <Icon name="fail" size={0.875} className="mt-px text-failed" />
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
