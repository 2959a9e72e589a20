/** A Python list of calls with keyword arguments: `[f(a=1), g()]`. Literals only; nothing is evaluated. */
import { compactJson, type JsonValue } from "../json/index.ts";
import type { ParsedToolCall, ToolSchema } from "./contract.ts";
import { pythonTag } from "./llama3-json.ts";
import { PythonReader } from "./python-literal.ts";
import { endOfTurn, type Format, type Step, skipSpace, textBefore, wait } from "./scanner.ts";

export function pythonic(tools: readonly ToolSchema[]): Format {
  const names = new Set(tools.map((tool) => tool.name));
  return {
    afterCall: endOfTurn,
    step: (text, position, atEnd) => textBefore(["[", pythonTag], text, position, atEnd) ?? listAt(text, position, atEnd, names),
  };
}

const opening = /\[\s*([A-Za-z_][\w.]*)\s*\(/y;
const begunOpening = /^\[\s*(?:[A-Za-z_][\w.]*\s*)?$/;
/** How far the beginning of the first argument must be seen to tell a call from prose. */
const begunArgument = /^\s*(?:[A-Za-z_]\w*\s*)?$/;

function listAt(text: string, position: number, atEnd: boolean, names: ReadonlySet<string>): Step {
  const tagged = text.startsWith(pythonTag, position);
  const start = tagged ? skipSpace(text, position + pythonTag.length) : position;
  if (start === text.length) return atEnd ? { kind: "broken", end: start } : wait;
  const otherwise: Step = { kind: tagged ? "broken" : "text", end: Math.max(start, position + 1) };
  opening.lastIndex = start;
  const match = opening.exec(text);
  if (match === null) return !atEnd && begunOpening.test(text.slice(start)) ? wait : otherwise;
  const first = start + match[0].length;
  if (!atEnd && begunArgument.test(text.slice(first))) return wait;
  const looksLikeCall = tagged || names.has(match[1] ?? "") || /^\s*(?:[A-Za-z_]\w*\s*=(?!=)|\))/.test(text.slice(first));
  if (!looksLikeCall) return otherwise;
  const read = readCalls(text, start);
  if (read.state === "whole") return { kind: "calls", items: read.calls.map((call) => ({ call })), end: read.end };
  if (read.state === "open") return atEnd ? { kind: "broken", end: text.length } : wait;
  return { kind: "broken", end: read.at };
}

type ReadCalls =
  | { readonly state: "whole"; readonly calls: readonly ParsedToolCall[]; readonly end: number }
  | { readonly state: "open" }
  | { readonly state: "broken"; readonly at: number };

function readCalls(text: string, start: number): ReadCalls {
  const reader = new PythonReader(text, start);
  const calls: ParsedToolCall[] = [];
  const done = reader.attempt(() => {
    reader.expect("[");
    reader.list("]", () => calls.push(readCall(reader)));
  });
  return done.state === "whole" ? { ...done, calls } : done;
}

function readCall(reader: PythonReader): ParsedToolCall {
  const name = reader.dottedName();
  reader.expect("(");
  const given = new Map<string, JsonValue>();
  reader.list(")", () => {
    const key = reader.name();
    reader.expect("=");
    if (given.has(key)) reader.fail();
    given.set(key, reader.value());
  });
  return { name, arguments: compactJson(given) };
}
