/** Whether a rollout passes a filter. A missing number passes no comparison: it is unknown, not 0. */
import type { RolloutView } from "../service/views.ts";
import { fields } from "./fields.ts";
import type { Operator, Term } from "./parse.ts";

const comparisons: Readonly<Record<Operator, (left: number, right: number) => boolean>> = {
  ">=": (left, right) => left >= right,
  "<=": (left, right) => left <= right,
  ">": (left, right) => left > right,
  "<": (left, right) => left < right,
  "=": (left, right) => left === right,
  ":": (left, right) => left === right,
};

function textOf(rollout: RolloutView, experiment: string): string {
  const parts = [
    rollout.id,
    rollout.task,
    rollout.harness,
    rollout.policy,
    rollout.status ?? rollout.phase,
    rollout.cause,
    rollout.detail,
    experiment,
  ];
  return parts
    .filter((part) => part !== null)
    .join("\n")
    .toLowerCase();
}

function passes(term: Term, rollout: RolloutView, experiment: string): boolean {
  if (term.kind === "words") return textOf(rollout, experiment).includes(term.text);
  const field = fields[term.field];
  if (term.kind === "text" && field?.kind === "text") {
    const values = field.read(rollout, experiment);
    return values.some((value) => value !== null && (term.exact ? value.toLowerCase() === term.text : value.toLowerCase().includes(term.text)));
  }
  if (term.kind === "number" && field?.kind === "number") {
    const value = field.read(rollout);
    return value !== null && comparisons[term.operator](value, term.value);
  }
  return term.kind === "yes-no" && field?.kind === "yes-no" && field.read(rollout) === term.value;
}

export const matches = (terms: readonly Term[], rollout: RolloutView, experiment: string): boolean =>
  terms.every((term) => passes(term, rollout, experiment) !== term.negated);
