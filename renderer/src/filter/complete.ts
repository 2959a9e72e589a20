/** Completion while typing: keys first, then the values that the loaded rollouts have. */
import { rolloutViewSchema } from "../../../main/api/rollout-views.ts";
import type { RolloutView } from "../service/views.ts";
import { phases } from "../words/outcomes.ts";
import { fields } from "./fields.ts";

export interface Completion {
  /** What stands in the list. */
  readonly label: string;
  readonly kind: string;
  readonly about: string;
  readonly example: string;
  /** Replaces the text between `from` and the caret. */
  readonly insert: string;
  readonly from: number;
}

const shown = 8;
const options = (schema: { readonly unwrap: () => { readonly options: readonly string[] } }): readonly string[] => schema.unwrap().options;
const known: Readonly<Record<string, readonly string[]>> = {
  outcome: [...options(rolloutViewSchema.shape.status), ...phases.filter((phase) => phase !== "ended")],
  cause: options(rolloutViewSchema.shape.cause),
  action: options(rolloutViewSchema.shape.action),
  sandbox: rolloutViewSchema.shape.sandbox.options,
  trainable: ["yes", "no"],
};

function valuesOf(key: string, rollouts: readonly RolloutView[], experiments: readonly string[]): readonly string[] {
  if (known[key] !== undefined) return known[key];
  if (key === "experiment") return experiments;
  const field = fields[key];
  if (field?.kind !== "text") return [];
  return [...new Set(rollouts.flatMap((rollout) => field.read(rollout, "").slice(0, 1)))].filter((value) => value !== null).sort();
}

const quoted = (value: string): string => (/\s/.test(value) ? `"${value}"` : value);

/** What fits the word before the caret. */
export function completions(text: string, caret: number, rollouts: readonly RolloutView[], experiments: readonly string[]): readonly Completion[] {
  const from = Math.max(text.lastIndexOf(" ", caret - 1) + 1, 0);
  const word = text.slice(from, caret).replace(/^-/, "");
  const wordFrom = caret - word.length;
  const match = /^([A-Za-z][\w.]*)([:=])(.*)$/.exec(word);
  if (match === null) {
    if (word === "" || word.startsWith('"')) return [];
    return Object.entries(fields)
      .filter(([key]) => key.startsWith(word.toLowerCase()))
      .map(([key, field]) => ({
        label: key,
        kind: field.kind === "yes-no" ? "yes or no" : field.kind,
        about: field.about,
        example: field.example,
        insert: `${key}${field.kind === "number" ? ">" : ":"}`,
        from: wordFrom,
      }));
  }
  const [, key = "", operator = ":", start = ""] = match;
  return valuesOf(key, rollouts, experiments)
    .filter((value) => value.toLowerCase().startsWith(start.replace(/^"/, "").toLowerCase()) && value !== start)
    .slice(0, shown)
    .map((value) => ({ label: value, kind: "", about: "", example: "", insert: `${key}${operator}${quoted(value)} `, from: wordFrom }));
}
