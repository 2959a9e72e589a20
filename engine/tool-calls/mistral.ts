/** `[TOOL_CALLS]` before a JSON array of calls, or before each `name[ARGS]{…}`. */
import { compactJson, isJsonObject, sliceJson } from "../json/index.ts";
import { scanJson } from "./json-scan.ts";
import { endOfTurn, type Format, type Item, type Step, skipSpace, textBefore, wait } from "./scanner.ts";
import { callFromObject, readJson } from "./written-call.ts";

const mark = "[TOOL_CALLS]";
/** A name, with its call id in some versions, up to the brace of its arguments. */
const named = /([^\s[\]{}]+)\s*(?:\[CALL_ID\][^\s[\]{}]*\s*)?(?:\[ARGS\]\s*)?(?=\{)/y;
const begunNamed = /^[^\s[\]{}]*\s*(?:\[[A-Z_]*(?:\][^\s[\]{}]*\s*(?:\[[A-Z_]*(?:\]\s*)?)?)?)?$/;

export const mistral: Format = {
  afterCall: endOfTurn,
  step: (text, position, atEnd) => textBefore([mark], text, position, atEnd) ?? callsAt(text, position, atEnd),
};

function callsAt(text: string, position: number, atEnd: boolean): Step {
  const start = skipSpace(text, position + mark.length);
  if (start === text.length) return atEnd ? { kind: "broken", end: start } : wait;
  if (text[start] === "[") return arrayAt(text, start, atEnd);
  named.lastIndex = start;
  const match = named.exec(text);
  if (match === null) return !atEnd && begunNamed.test(text.slice(start)) ? wait : { kind: "broken", end: start };
  const brace = start + match[0].length;
  const scanned = scanJson(text, brace);
  if (scanned.state === "open") return atEnd ? { kind: "broken", end: text.length } : wait;
  if (scanned.state === "broken") return { kind: "broken", end: scanned.at };
  const given = readJson(text.slice(brace, scanned.end));
  if (!isJsonObject(given)) return { kind: "broken", end: scanned.end };
  return { kind: "calls", items: [{ call: { name: match[1] ?? "", arguments: compactJson(given) } }], end: scanned.end };
}

function arrayAt(text: string, start: number, atEnd: boolean): Step {
  const scanned = scanJson(text, start);
  if (scanned.state === "open") return atEnd ? { kind: "broken", end: text.length } : wait;
  if (scanned.state === "broken") return { kind: "broken", end: scanned.at };
  const written = text.slice(start, scanned.end);
  const items: readonly Item[] =
    readJson(written) === undefined
      ? []
      : sliceJson(written)
          .items()
          .map((item) => readItem(item.text));
  return items.some((item) => "call" in item) ? { kind: "calls", items, end: scanned.end } : { kind: "broken", end: scanned.end };
}

function readItem(written: string): Item {
  const call = callFromObject(readJson(written), ["arguments"]);
  return call === null ? { broken: written } : { call };
}
