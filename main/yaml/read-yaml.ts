/**
 * Every YAML file that a person writes comes in here: text and a schema → the value, or one sentence a fault with the line it is on.
 * Never throws for what a person can write wrong: broken YAML, several documents, unknown tags, aliases without end, wrong types.
 */
import { type Document, isAlias, isMap, isNode, LineCounter, type Node, parseDocument } from "yaml";
import type { z } from "zod";
import { issueSentence, telling } from "./issue-sentence.ts";

interface YamlFault {
  /** 1-based. */
  readonly line: number;
  readonly message: string;
}

export type YamlReading<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly faults: readonly YamlFault[] };

interface ReadYamlOptions {
  /** What the file is, at the head of a sentence: `The manifest`. */
  readonly subject: string;
  /** What a table of keys looks like here: `id: my-agent`. */
  readonly example: string;
}

/** Reads one document that must be a table of keys; the faults come in the order of their lines. */
export function readYaml<S extends z.ZodType>(text: string, schema: S, { subject, example }: ReadYamlOptions): YamlReading<z.output<S>> {
  const fail = (line: number, message: string): YamlReading<z.output<S>> => ({ ok: false, faults: [{ line, message }] });
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const broken = [...document.errors, ...document.warnings];
  if (broken.length > 0)
    return { ok: false, faults: broken.map((error) => ({ line: lines.linePos(error.pos[0]).line, message: syntaxSentence(error, subject) })) };
  if (!isMap(document.contents)) return fail(1, `${subject} is not a table of keys, as in \`${example}\`.`);
  const value = plainValue(document);
  if (value === tooManyAliases) return fail(1, `${subject} repeats itself by aliases (\`*name\`) too often.`);
  const parsed = schema.safeParse(value, { reportInput: true });
  if (parsed.success) return { ok: true, value: parsed.data };
  const faults = parsed.error.issues.map((given) => {
    const issue = telling(given);
    return { line: lineOf(document, issue, lines), message: issueSentence(issue, subject) };
  });
  return { ok: false, faults: faults.toSorted((left, right) => left.line - right.line) };
}

const tooManyAliases = Symbol("too many aliases");

function plainValue(document: Document): unknown {
  try {
    return document.toJS();
  } catch (error) {
    if (error instanceof ReferenceError) return tooManyAliases;
    throw error;
  }
}

function syntaxSentence(error: { readonly code: string; readonly message: string }, subject: string): string {
  switch (error.code) {
    case "MULTIPLE_DOCS":
      return `${subject} must be one document; remove the second \`---\`.`;
    case "TAB_AS_INDENT":
      return "Tabs are not allowed as indentation; use spaces.";
    default: {
      const line = error.message.split("\n")[0] ?? "";
      return line.endsWith(".") ? line : `${line}.`;
    }
  }
}

/** The line of the deepest node that the issue's path reaches: of the key where the value is wrong, of the table where a key is missing. */
function lineOf(document: Document, issue: z.core.$ZodIssue, lines: LineCounter): number {
  let offset = 0;
  let node: unknown = document.contents;
  const path = issue.code === "unrecognized_keys" ? [...issue.path, issue.keys[0] ?? ""] : issue.path;
  for (const step of path) {
    if (isAlias(node)) node = node.resolve(document);
    if (isMap(node)) {
      const pair = node.items.find((item) => String(item.key) === String(step));
      if (pair === undefined) break;
      offset = startOf(pair.key) ?? offset;
      node = pair.value;
    } else {
      const item = (node as { readonly items?: readonly unknown[] } | null)?.items?.[Number(step)];
      if (item === undefined) break;
      offset = startOf(item) ?? offset;
      node = item;
    }
  }
  return lines.linePos(offset).line;
}

function startOf(node: unknown): number | undefined {
  return isNode(node) ? (node satisfies Node).range?.[0] : undefined;
}
