/** What a schema found wrong, as a sentence for the person who wrote the file. */
import type { z } from "zod";

type Issue = z.core.$ZodIssue;

/** Of a value that may have several forms: the fault in the form it comes closest to; else the issue itself. Paths become whole. */
export function telling(issue: Issue): Issue {
  if (issue.code !== "invalid_union" || issue.errors.length === 0) return issue;
  const branches = issue.errors.map((branch) => branch.map(telling));
  const meant = branches.filter((branch) => branch.every((inner) => inner.path.length > 0 || inner.code === "unrecognized_keys"));
  const closest = meant.toSorted((left, right) => misses(left) - misses(right))[0]?.[0];
  return closest === undefined ? issue : telling({ ...closest, path: [...issue.path, ...closest.path] });
}

/** Unknown keys weigh most: they tell that another form was meant. */
function misses(branch: readonly Issue[]): number {
  return branch.reduce((sum, issue) => sum + (issue.code === "unrecognized_keys" ? 10 : 1), 0);
}

/** One sentence. `subject` stands for the whole file, as in `The manifest`. */
export function issueSentence(issue: Issue, subject: string): string {
  const where = issue.path.map(String).join(".");
  const name = where === "" ? subject : `\`${where}\``;
  switch (issue.code) {
    case "unrecognized_keys":
      return `${where === "" ? "" : `${name}: `}unknown key \`${issue.keys.join("`, `")}\`.`;
    case "invalid_type":
      return issue.input === undefined ? `${name} is missing; it is ${kind(issue.expected)}.` : `${name} must be ${kind(issue.expected)}.`;
    case "invalid_value":
      return `${name} must be ${oneOf(issue.values)}.`;
    case "invalid_format":
      return `${name} must be ${issue.message.startsWith("Invalid") ? `of the form ${issue.pattern ?? issue.format}` : issue.message}.`;
    case "invalid_union":
      return `${name} must be ${unionForms(issue)}.`;
    case "invalid_key":
      return `${name}: ${issue.issues[0]?.message ?? "the key is not allowed"}.`;
    case "too_small":
      if (issue.origin === "array") return `${name} needs at least one entry.`;
      if (issue.origin === "string") return `${name} must not be empty.`;
      return `${name} must be ${issue.inclusive === true ? "at least" : "more than"} ${issue.minimum}.`;
    case "too_big":
      return `${name} must be at most ${issue.maximum}${issue.origin === "string" ? " characters" : ""}.`;
    case "custom":
      return `${name} ${issue.message}.`;
    default:
      return `${name}: ${issue.message}.`;
  }
}

function oneOf(values: readonly unknown[]): string {
  return `${values.length === 1 ? "" : "one of "}${values.map(String).join(", ")}`;
}

/** What a value of several forms may be. */
function unionForms(issue: Extract<Issue, { code: "invalid_union" }>): string {
  if ("options" in issue && Array.isArray(issue.options)) return oneOf(issue.options);
  const named = [...new Set(formsOf(issue))];
  const last = named.pop();
  if (last === undefined) return "of another form";
  return named.length === 0 ? last : `${named.join(", ")} or ${last}`;
}

function formsOf(issue: Extract<Issue, { code: "invalid_union" }>): readonly string[] {
  return issue.errors.flatMap(([first]) => {
    switch (first?.code) {
      case "invalid_type":
        return [kind(first.expected)];
      case "invalid_value":
        return first.values.map((value) => `\`${String(value)}\``);
      case "invalid_union":
        return formsOf(first);
      default:
        return [];
    }
  });
}

function kind(expected: string): string {
  switch (expected) {
    case "int":
      return "a whole number";
    case "record":
    case "object":
      return "a table";
    case "array":
      return "a list";
    case "string":
      return "a text";
    case "boolean":
      return "true or false";
    default:
      return `a ${expected}`;
  }
}
