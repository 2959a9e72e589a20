/** Bare JSON objects with `name` and `parameters` (or `arguments`), `;` between them, `<|python_tag|>` before. */
import { isJsonObject, type JsonValue } from "../json/index.ts";
import type { ToolSchema } from "./contract.ts";
import { scanJson } from "./json-scan.ts";
import { endOfTurn, type Format, type Step, skipSpace, textBefore, wait } from "./scanner.ts";
import { callFromObject, readJson } from "./written-call.ts";

export const pythonTag = "<|python_tag|>";
const argumentKeys = ["parameters", "arguments"];
/** How far the end of a broken call is looked for; a bound, so that a text full of them takes no quadratic time. */
const brokenReach = 16_384;

export function llama3Json(tools: readonly ToolSchema[]): Format {
  const names = new Set(tools.map((tool) => tool.name));
  return {
    afterCall: [";", ...endOfTurn],
    step: (text, position, atEnd) => textBefore(["{", pythonTag], text, position, atEnd) ?? objectAt(text, position, atEnd, names),
  };
}

function objectAt(text: string, position: number, atEnd: boolean, names: ReadonlySet<string>): Step {
  const tagged = text.startsWith(pythonTag, position);
  const start = tagged ? skipSpace(text, position + pythonTag.length) : position;
  if (start === text.length) return atEnd ? { kind: "broken", end: start } : wait;
  if (text[start] !== "{") return { kind: "broken", end: start };
  const scanned = scanJson(text, start);
  if (scanned.state === "whole") {
    const value = readJson(text.slice(start, scanned.end));
    const call = callFromObject(value, argumentKeys);
    if (call !== null) return { kind: "calls", items: [{ call }], end: scanned.end };
    return { kind: tagged || isMeantAsCall(value, names) ? "broken" : "text", end: scanned.end };
  }
  if (scanned.state === "open" && !atEnd) return wait;
  const reached = scanned.state === "open" ? text.length : scanned.at;
  if (!tagged && !/^\{\s*"(?:name|parameters|arguments)"\s*:/.test(text.slice(start, start + 100))) return { kind: "text", end: reached };
  // What stands inside a broken call is not looked at, where its end can be told.
  const end = scanned.state === "open" ? text.length : matchingBrace(text.slice(0, start + brokenReach), start);
  if (end === null && !atEnd && text.length < start + brokenReach) return wait;
  return { kind: "broken", end: end ?? reached };
}

/** An object without a name and arguments is an answer in JSON, unless it names one of the tools. */
function isMeantAsCall(value: JsonValue | undefined, names: ReadonlySet<string>): boolean {
  if (!isJsonObject(value)) return true;
  const name = value.get("name");
  return value.has("name") && (argumentKeys.some((key) => value.has(key)) || (typeof name === "string" && names.has(name)));
}

/** After the brace that closes the one at `start`, strings left aside; null when there is none (yet). */
function matchingBrace(text: string, start: number): number | null {
  const parts = /"(?:[^"\\]+|\\[\s\S]?)*(?:"|$)|[{}]/g;
  parts.lastIndex = start;
  let depth = 0;
  for (let part = parts.exec(text); part !== null; part = parts.exec(text)) {
    if (part[0] === "{") depth++;
    else if (part[0] === "}" && --depth === 0) return parts.lastIndex;
  }
  return null;
}
