/** `<tool_call>` around one JSON object each. */
import { scanJson } from "./json-scan.ts";
import { endOfTurn, type Format, mayBecome, type Step, skipSpace, textBefore, wait } from "./scanner.ts";
import { callFromObject, readJson } from "./written-call.ts";

const open = "<tool_call>";
const close = "</tool_call>";

export const hermes: Format = {
  afterCall: endOfTurn,
  step: (text, position, atEnd) => textBefore([open], text, position, atEnd) ?? callAt(text, position, atEnd),
};

function callAt(text: string, position: number, atEnd: boolean): Step {
  const start = skipSpace(text, position + open.length);
  if (start === text.length) return atEnd ? { kind: "broken", end: start } : wait;
  if (text[start] !== "{") return { kind: "broken", end: start };
  const scanned = scanJson(text, start);
  if (scanned.state === "open") return atEnd ? { kind: "broken", end: text.length } : wait;
  if (scanned.state === "broken") return { kind: "broken", end: scanned.at };
  const call = callFromObject(readJson(text.slice(start, scanned.end)), ["arguments"]);
  if (call === null) return { kind: "broken", end: scanned.end };
  const end = closed(text, skipSpace(text, scanned.end), atEnd);
  if (end === "wait") return wait;
  return end === null ? { kind: "broken", end: scanned.end } : { kind: "calls", items: [{ call }], end };
}

/** Where the call ends. The closing tag may be missing or cut when nothing but the next call or the end of the turn follows. */
function closed(text: string, position: number, atEnd: boolean): number | "wait" | null {
  if (text.startsWith(close, position)) return position + close.length;
  const followers = [open, ...endOfTurn];
  if (followers.some((follower) => text.startsWith(follower, position))) return position;
  if (atEnd) return mayBecome(close, text, position) ? text.length : null;
  return [close, ...followers].some((mark) => mayBecome(mark, text, position)) ? "wait" : null;
}
