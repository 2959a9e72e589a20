/** YAML text → manifest, or one sentence a fault with the line it is on. */
import { isMap, LineCounter, type Node, parseDocument } from "yaml";
import type { z } from "zod";
import { WorkbenchError } from "../errors.ts";
import { type HarnessManifest, harnessManifestSchema } from "./manifest.ts";

interface ManifestFault {
  /** 1-based. */
  readonly line: number;
  readonly message: string;
}

export type ManifestReading =
  | { readonly ok: true; readonly manifest: HarnessManifest }
  | { readonly ok: false; readonly faults: readonly ManifestFault[] };

/** Reads one manifest. Never throws for what a person can write wrong. */
export function readManifest(text: string): ManifestReading {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  if (document.errors.length > 0) {
    const faults = document.errors.map((error) => ({ line: lines.linePos(error.pos[0]).line, message: firstSentence(error.message) }));
    return { ok: false, faults };
  }
  if (!isMap(document.contents)) return { ok: false, faults: [{ line: 1, message: "The manifest is not a table of keys, as in `id: my-agent`." }] };
  const parsed = harnessManifestSchema.safeParse(document.toJS(), { reportInput: true });
  if (parsed.success) return { ok: true, manifest: parsed.data };
  const faults = parsed.error.issues.map((issue) => ({ line: lineOf(document.contents, issue, lines), message: sentence(issue) }));
  return { ok: false, faults: faults.toSorted((left, right) => left.line - right.line) };
}

/** Reads one manifest or throws its first fault as one sentence: `PATH:LINE: what is wrong`. */
export function requireManifest(text: string, path: string): HarnessManifest {
  const reading = readManifest(text);
  if (reading.ok) return reading.manifest;
  const [first, ...others] = reading.faults;
  const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
  throw new WorkbenchError(
    "harness",
    `${path}:${first?.line ?? 1}: ${first?.message ?? "unreadable."}${more}`,
    "Correct the manifest; docs/harnesses.md has every key.",
    {
      exitCode: 2,
    },
  );
}

/** The line of the deepest node that the issue's path reaches: of the key where the value is wrong, of the table where a key is missing. */
function lineOf(root: unknown, issue: z.core.$ZodIssue, lines: LineCounter): number {
  let offset = 0;
  let node: unknown = root;
  const path = issue.code === "unrecognized_keys" ? [...issue.path, issue.keys[0] ?? ""] : issue.path;
  for (const step of path) {
    if (isMap(node)) {
      const pair = node.items.find((item) => String(item.key) === String(step));
      if (pair === undefined) break;
      offset = (pair.key as Node).range?.[0] ?? offset;
      node = pair.value;
    } else {
      const item = (node as { items?: readonly unknown[] } | null)?.items?.[Number(step)];
      if (item === undefined) break;
      offset = (item as Node).range?.[0] ?? offset;
      node = item;
    }
  }
  return lines.linePos(offset).line;
}

function sentence(issue: z.core.$ZodIssue): string {
  const where = issue.path.map(String).join(".");
  const subject = where === "" ? "The manifest" : `\`${where}\``;
  switch (issue.code) {
    case "unrecognized_keys":
      return `${where === "" ? "" : `${subject}: `}unknown key \`${issue.keys.join("`, `")}\`.`;
    case "invalid_type":
      return issue.input === undefined
        ? `${subject} is missing; it is ${article(issue.expected)}.`
        : `${subject} must be ${article(issue.expected)}.`;
    case "invalid_value":
      return `${subject} must be ${issue.values.length === 1 ? "" : "one of "}${issue.values.map(String).join(", ")}.`;
    case "invalid_format":
      return `${subject} must be ${issue.message.startsWith("Invalid") ? `of the form ${issue.pattern ?? issue.format}` : issue.message}.`;
    case "invalid_union":
      return `${subject} must be one of bundled, npm, pip, cargo.`;
    case "too_small":
      return issue.origin === "array" ? `${subject} needs at least one entry.` : `${subject} must be more than ${issue.minimum}.`;
    default:
      return `${subject}: ${issue.message}.`;
  }
}

function article(type: string): string {
  switch (type) {
    case "int":
      return "a whole number";
    case "record":
    case "object":
      return "a table";
    case "array":
      return "a list";
    case "string":
      return "a text";
    default:
      return `a ${type}`;
  }
}

function firstSentence(message: string): string {
  const line = message.split("\n")[0] ?? message;
  return line.endsWith(".") ? line : `${line}.`;
}
