/** A server policy as the form holds it: texts while they are typed. Pure. */
import { serverKinds } from "../../../../main/api/policy-views.ts";
import type { PolicyView } from "../../service/views.ts";

type ServerKind = (typeof serverKinds)[number];

export interface PolicyForm {
  readonly id: string;
  readonly url: string;
  /** Empty = the server is asked. */
  readonly kind: ServerKind | "";
  readonly model: string;
  readonly keyVariable: string;
  readonly tokenizer: string;
  readonly contextWindow: string;
  readonly priceInput: string;
  readonly priceOutput: string;
  readonly priceCached: string;
  readonly spendingLimit: string;
}

export const blankForm: PolicyForm = {
  ...{ id: "", url: "", kind: "", model: "", keyVariable: "", tokenizer: "", contextWindow: "" },
  ...{ priceInput: "", priceOutput: "", priceCached: "", spendingLimit: "" },
};

/** What each kind is and gives, in the words of the list. */
export const kindWords: Readonly<Record<ServerKind, string>> = {
  vllm: "vLLM: token ids and log-probs, token-in",
  sglang: "SGLang: token ids and log-probs, token-in",
  "llama.cpp": "llama.cpp server: token ids and log-probs",
  ollama: "Ollama: text only",
  "openai-compatible": "OpenAI-compatible: text only",
  "anthropic-compatible": "Anthropic-compatible: text only",
};

export const kinds: readonly ServerKind[] = serverKinds;
export const takesTokenizer = (kind: PolicyForm["kind"]): boolean => kind === "" || kind === "vllm" || kind === "sglang" || kind === "llama.cpp";

const shown = (value: number | null | undefined): string => (value === null || value === undefined ? "" : String(value));

/** The form of a saved server, to be changed. */
export function formOf({ id, kind, address, settings }: PolicyView): PolicyForm {
  return {
    id,
    url: address,
    kind: kinds.find((each) => each === kind) ?? "",
    model: settings?.model ?? "",
    keyVariable: settings?.keyVariable ?? "",
    tokenizer: settings?.tokenizer ?? "",
    contextWindow: shown(settings?.contextWindow),
    priceInput: shown(settings?.prices?.input),
    priceOutput: shown(settings?.prices?.output),
    priceCached: shown(settings?.prices?.cachedInput),
    spendingLimit: shown(settings?.spendingLimit),
  };
}

export type Mistakes = Partial<Record<keyof PolicyForm, string>>;

const isPrice = (text: string): boolean => /^\s*\d+(\.\d+)?\s*$/.test(text);
const given = (text: string): boolean => text.trim() !== "";

export function mistakesOf(form: PolicyForm): Mistakes {
  const mistakes: { -readonly [name in keyof PolicyForm]?: string } = {};
  if (!/^[a-z0-9][a-z0-9._-]*$/i.test(form.id.trim())) mistakes.id = "Letters, digits, dots and dashes, for example qwen3-4b.";
  if (!/^https?:\/\/\S+$/.test(form.url.trim())) mistakes.url = "An address of HTTP, for example http://127.0.0.1:8000.";
  if (given(form.keyVariable) && !/^[A-Za-z_]\w*$/.test(form.keyVariable.trim()))
    mistakes.keyVariable = "The name of an environment variable, for example OPENAI_API_KEY. The key itself is never stored.";
  if (form.kind === "ollama" && given(form.contextWindow) && !/^\s*[1-9]\d*\s*$/.test(form.contextWindow))
    mistakes.contextWindow = "A whole number of tokens, for example 32768.";
  for (const name of ["priceInput", "priceOutput", "priceCached", "spendingLimit"] as const)
    if (given(form[name]) && !isPrice(form[name])) mistakes[name] = "A number, for example 3 or 0.25.";
  const priced = given(form.priceInput) || given(form.priceOutput) || given(form.priceCached);
  if (given(form.spendingLimit) && !given(form.priceInput) && !given(form.priceOutput))
    mistakes.spendingLimit ??= "A limit wants prices to count by, for example 3 and 15.";
  else if (priced && (!given(form.priceInput) || !given(form.priceOutput)))
    mistakes[given(form.priceInput) ? "priceOutput" : "priceInput"] ??= "Both prices are wanted, for example 3 and 15.";
  return mistakes;
}

/** What is sent; fields that are empty, or of no use to the kind, are left out. */
export function policyInput(form: PolicyForm, replace: boolean) {
  const text = (name: "model" | "keyVariable" | "tokenizer") => (given(form[name]) ? { [name]: form[name].trim() } : {});
  return {
    id: form.id.trim(),
    url: form.url.trim(),
    ...(form.kind === "" ? {} : { kind: form.kind }),
    ...text("model"),
    ...text("keyVariable"),
    ...(takesTokenizer(form.kind) ? text("tokenizer") : {}),
    ...(form.kind === "ollama" && given(form.contextWindow) ? { contextWindow: Number(form.contextWindow) } : {}),
    ...(given(form.priceInput) && given(form.priceOutput)
      ? {
          prices: {
            input: Number(form.priceInput),
            output: Number(form.priceOutput),
            ...(given(form.priceCached) ? { cachedInput: Number(form.priceCached) } : {}),
          },
        }
      : {}),
    ...(given(form.spendingLimit) ? { spendingLimit: Number(form.spendingLimit) } : {}),
    ...(replace ? { replace } : {}),
  };
}
