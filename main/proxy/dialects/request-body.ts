/** A JSON request body: its parsed members, and each as it was written. What it repeats of an earlier body need not be read again. */
import type { Message } from "../../../engine/conversation/index.ts";
import { sliceJson } from "../../../engine/json/index.ts";
import { type ByteRange, scanItems, scanMembers, skipSpace, textOf } from "./json-bytes.ts";

export interface RequestBody {
  /** As JSON.parse gives it; the dialect's list of messages without the items that are known. */
  readonly value: Readonly<Record<string, unknown>>;
  /** Members of the object as written, the whole list among them; a repeated name has its last value. */
  readonly raw: ReadonlyMap<string, Uint8Array>;
  /** Items at the start of the list that are not in `value`, and what they say. */
  readonly known: { readonly items: number; readonly messages: readonly Message[] };
}

/** A body with what is needed to read a later one from where the two part. */
export interface ScannedBody extends RequestBody {
  readonly bytes: Uint8Array;
  readonly ranges: ReadonlyMap<string, ByteRange>;
  /** Ends of the list's items in `bytes`. */
  readonly itemEnds: readonly number[];
  /** Names of the members that stand before the list. */
  readonly head: readonly string[];
}

/** After so many items of the list, whatever follows begins a new message. */
export interface Mark {
  readonly items: number;
  readonly messages: readonly Message[];
}

const utf8 = new TextDecoder("utf-8", { fatal: true });
const nothingKnown = { items: 0, messages: [] };

/** Throws TypeError for bytes that are no UTF-8 and SyntaxError for text that is no JSON object. */
export function readWhole(bytes: Uint8Array, list: string): ScannedBody {
  const value: unknown = JSON.parse(utf8.decode(bytes));
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new SyntaxError("it is no object");
  const ranges = new Map<string, ByteRange>();
  scanMembers(bytes, bytes.indexOf(0x7b) + 1, ranges);
  const range = ranges.get(list);
  const isList = range !== undefined && bytes[range.start] === 0x5b;
  return {
    bytes,
    ranges,
    value: value as Readonly<Record<string, unknown>>,
    raw: slices(bytes, ranges),
    known: nothingKnown,
    itemEnds: isList ? scanItems(bytes, range.start + 1).ends : [],
    head: isList ? [...ranges].filter(([, each]) => each.end < range.start).map(([name]) => name) : [],
  };
}

/**
 * Reads a body that begins with the bytes of `before` up to the end of the marked items; null when it does not, or when it has to be
 * read whole for another reason.
 */
export function readOnward(bytes: Uint8Array, list: string, before: ScannedBody, mark: Mark): ScannedBody | null {
  const end = before.itemEnds[mark.items - 1];
  if (end === undefined || bytes.length <= end || !sameStart(bytes, before.bytes, end)) return null;
  const next = skipSpace(bytes, end);
  const isLonger = bytes[next] === 0x2c;
  const tailStart = isLonger ? skipSpace(bytes, next + 1) : next;
  // With its bracket put in place of what came before, a comma before the end would read as JSON.
  if ((bytes[tailStart] === 0x5d) === isLonger) return null;
  const tail = parseTail(bytes.subarray(tailStart), list);
  if (tail === null) return null;
  const { ends, close } = scanItems(bytes, tailStart);
  const after = new Map<string, ByteRange>();
  const rest = skipSpace(bytes, close + 1);
  scanMembers(bytes, bytes[rest] === 0x2c ? rest + 1 : rest, after);
  // A second list would take the place of the first; and no object is put together with a prototype for a member.
  if (after.has(list) || after.has("__proto__") || before.head.includes("__proto__")) return null;
  const ranges = new Map<string, ByteRange>();
  for (const name of before.head) {
    const range = before.ranges.get(name);
    if (range !== undefined) ranges.set(name, range);
  }
  ranges.set(list, { start: before.ranges.get(list)?.start ?? 0, end: close + 1 });
  for (const [name, range] of after) ranges.set(name, range);
  const value: Record<string, unknown> = {};
  for (const name of before.head) value[name] = before.value[name];
  return {
    bytes,
    ranges,
    value: Object.assign(value, tail),
    raw: slices(bytes, ranges),
    known: mark,
    itemEnds: [...before.itemEnds.slice(0, mark.items), ...ends],
    head: before.head,
  };
}

function sameStart(left: Uint8Array, right: Uint8Array, length: number): boolean {
  return Buffer.compare(left.subarray(0, length), right.subarray(0, length)) === 0;
}

/** `"a","b"],"x":1}` → `{list: ["a", "b"], x: 1}`; null when it is no JSON (the whole is read then, to say what is wrong). */
function parseTail(bytes: Uint8Array, list: string): Readonly<Record<string, unknown>> | null {
  try {
    return JSON.parse(`{${JSON.stringify(list)}:[${utf8.decode(bytes)}`) as Readonly<Record<string, unknown>>;
  } catch {
    return null;
  }
}

function slices(bytes: Uint8Array, ranges: ReadonlyMap<string, ByteRange>): ReadonlyMap<string, Uint8Array> {
  return new Map([...ranges].map(([name, { start, end }]) => [name, bytes.subarray(start, end)]));
}

/** An item of the list as written. */
export function rawItem(body: RequestBody, list: string, index: number): string {
  const written = body.raw.get(list);
  return written === undefined ? "null" : (sliceJson(textOf(written)).items()[index]?.text ?? "null");
}

/** Members that are not in `known`, as the text of one JSON object. */
export function otherMembers(body: RequestBody, known: ReadonlySet<string>): string {
  const parts: string[] = [];
  for (const [name, bytes] of body.raw) if (!known.has(name)) parts.push(`${JSON.stringify(name)}:${textOf(bytes)}`);
  return `{${parts.join(",")}}`;
}
