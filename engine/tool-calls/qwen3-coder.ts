/** `<function=name>` with `<parameter=key>` values as text; `<tool_call>` around it is often left out. */
import { compactJson, type JsonValue } from "../json/index.ts";
import type { ParsedToolCall, ToolSchema } from "./contract.ts";
import { endOfTurn, type Format, type Step, skipSpace, textBefore, wait } from "./scanner.ts";
import { parameterReader } from "./typed-values.ts";

const outer = "<tool_call>";
const outerClose = "</tool_call>";
const functionOpen = "<function=";
const functionClose = "</function>";
const parameterOpen = "<parameter=";
const parameterClose = "</parameter>";

export function qwen3Coder(tools: readonly ToolSchema[]): Format {
  return {
    afterCall: [outerClose, ...endOfTurn],
    step: (text, position, atEnd) => textBefore([outer, functionOpen], text, position, atEnd) ?? callAt(text, position, atEnd, tools),
  };
}

type Reading<T> =
  | { readonly state: "whole"; readonly value: T; readonly end: number }
  | { readonly state: "open" }
  | { readonly state: "broken"; readonly at: number };

function callAt(text: string, position: number, atEnd: boolean, tools: readonly ToolSchema[]): Step {
  const start = text.startsWith(outer, position) ? skipSpace(text, position + outer.length) : position;
  const read: Reading<ParsedToolCall> = text.startsWith(functionOpen, start)
    ? readFunction(text, start, atEnd, tools)
    : functionOpen.startsWith(text.slice(start))
      ? { state: "open" }
      : { state: "broken", at: start };
  if (read.state === "whole") return { kind: "calls", items: [{ call: read.value }], end: read.end };
  if (read.state === "broken") return { kind: "broken", end: Math.max(read.at, position + 1) };
  return atEnd ? { kind: "broken", end: text.length } : wait;
}

function readFunction(text: string, start: number, atEnd: boolean, tools: readonly ToolSchema[]): Reading<ParsedToolCall> {
  const name = readTagName(text, start + functionOpen.length);
  if (name.state !== "whole") return name;
  const readValue = parameterReader(tools.find((tool) => tool.name === name.value));
  const given = new Map<string, JsonValue>();
  let at = skipSpace(text, name.end);
  while (text.startsWith(parameterOpen, at)) {
    const key = readTagName(text, at + parameterOpen.length);
    if (key.state !== "whole") return key;
    const written = readValueText(text, key.end, atEnd);
    if (written.state !== "whole") return written;
    given.set(key.value, readValue(key.value, written.value));
    at = skipSpace(text, written.end);
  }
  const value = { name: name.value, arguments: compactJson(given) };
  if (text.startsWith(functionClose, at)) return { state: "whole", value, end: at + functionClose.length };
  if (text.startsWith(outerClose, at)) return { state: "whole", value, end: at };
  const rest = text.slice(at);
  return [parameterOpen, functionClose, outerClose].some((mark) => mark.startsWith(rest)) ? { state: "open" } : { state: "broken", at };
}

function readTagName(text: string, start: number): Reading<string> {
  const end = text.slice(start).search(/[>\n<]/);
  if (end < 0) return { state: "open" };
  const name = text.slice(start, start + end).trim();
  if (text[start + end] !== ">" || name === "") return { state: "broken", at: start + end };
  return { state: "whole", value: name, end: start + end + 1 };
}

/**
 * A value goes to its closing tag. Where another parameter or function begins on its own line before that, the closing tag
 * was left out, and the value ends there, or at the end of its function if that comes first.
 */
function readValueText(text: string, start: number, atEnd: boolean): Reading<string> {
  const close = text.indexOf(parameterClose, start);
  const written = text.slice(start, close < 0 ? text.length : close);
  const next = written.search(/\n\s*(?:<parameter=|<function=|<tool_call>)/);
  const functionEnd = written.indexOf(functionClose);
  if (next >= 0) {
    const length = functionEnd >= 0 && functionEnd < next ? functionEnd : next + 1;
    return { state: "whole", value: withoutLineFeeds(written.slice(0, length)), end: start + length };
  }
  if (close >= 0) return { state: "whole", value: withoutLineFeeds(written), end: close + parameterClose.length };
  if (!atEnd || functionEnd < 0) return { state: "open" };
  return { state: "whole", value: withoutLineFeeds(written.slice(0, functionEnd)), end: start + functionEnd };
}

/** One line feed on each side belongs to the markup. */
function withoutLineFeeds(written: string): string {
  return written.replace(/^\n/, "").replace(/\n$/, "");
}
