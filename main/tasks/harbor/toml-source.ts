/**
 * A TOML file as Python's `tomllib` reads it (TOML 1.0), with the line of every key kept for messages.
 * Line ends are read as Python's text mode does: CRLF and a lone CR count as one line feed.
 */
import { type AST, ParseError, parseTOML } from "toml-eslint-parser";

/** A TOML date or time; kept apart from text because no field of a task takes one. */
export class TomlDate {
  /** ISO 8601 as Python's pydantic writes it. */
  readonly iso: string;
  constructor(iso: string) {
    this.iso = iso;
  }
}

/** Integers beyond 2^53 are bigint; every other number is a number. */
export type TomlValue = string | number | bigint | boolean | TomlDate | TomlValue[] | TomlTable;
export interface TomlTable {
  [key: string]: TomlValue;
}

export type KeyPath = readonly (string | number)[];

/** Python's recursion limit stops its reader a little below this. */
const deepestNesting = 490;

export interface TomlDocument {
  readonly root: TomlTable;
  /** Line of the deepest part of `path` that the file has; 1 when it has none of it. */
  lineOf(path: KeyPath): number;
}

export class TomlSyntaxError extends Error {
  readonly line: number;
  constructor(message: string, line: number) {
    super(message);
    this.line = line;
  }
}

export function isTomlTable(value: unknown): value is TomlTable {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof TomlDate);
}

/** Decodes and parses a file's bytes; throws TomlSyntaxError with a line. */
export function readToml(bytes: Uint8Array): TomlDocument {
  return parseDocument(decodeText(bytes));
}

function decodeText(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes).replace(/\r\n?/g, "\n");
  } catch {
    throw new TomlSyntaxError("The file is not UTF-8 text.", firstBadLine(bytes));
  }
}

function firstBadLine(bytes: Uint8Array): number {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let line = 1;
  let start = 0;
  for (let index = 0; index <= bytes.length; index += 1) {
    if (index !== bytes.length && bytes[index] !== 0x0a) continue;
    try {
      decoder.decode(bytes.subarray(start, index));
    } catch {
      return line;
    }
    line += 1;
    start = index + 1;
  }
  return 1;
}

function parseDocument(text: string): TomlDocument {
  if (text.startsWith("\uFEFF")) throw new TomlSyntaxError("The file begins with a byte order mark; save it as UTF-8 without one.", 1);
  const lines = new Map<string, number>();
  const root: TomlTable = emptyTable();
  const program = parseProgram(text);
  const note = (path: KeyPath, line: number) => {
    const key = JSON.stringify(path);
    if (!lines.has(key)) lines.set(key, line);
  };
  for (const node of program.body[0].body) {
    if (node.type === "TOMLTable") {
      const line = node.loc.start.line;
      const path = node.resolvedKey;
      for (let length = 1; length <= path.length; length += 1) note(path.slice(0, length), line);
      const table = tableAt(root, path);
      for (const pair of node.body) putPair(table, path, pair, note);
    } else putPair(root, [], node, note);
  }
  return {
    root,
    lineOf(path) {
      for (let length = path.length; length > 0; length -= 1) {
        const line = lines.get(JSON.stringify(path.slice(0, length)));
        if (line !== undefined) return line;
      }
      return 1;
    },
  };
}

function parseProgram(text: string): AST.TOMLProgram {
  try {
    return parseTOML(text, { tomlVersion: "1.0.0" });
  } catch (error) {
    if (error instanceof RangeError) throw new TomlSyntaxError("The values are nested too deeply.", 1);
    const { line, reason } = whereAndWhy(text, error);
    throw new TomlSyntaxError(`This is not valid TOML: ${reason}.`, line);
  }
}

/** The parser's words in ours. */
const plainReasons: Readonly<Record<string, string>> = {
  "Unspecified values are invalid": "the key has no value",
  "Defining a key multiple times is invalid": "the key is set twice",
};

/** Faults of a line that the parser notices only at the next one. */
const noticedLate = /same line|equal \(=\)|Unspecified|inline table/;

function whereAndWhy(text: string, error: unknown): { readonly line: number; readonly reason: string } {
  const words = (error instanceof Error ? error.message : String(error)).replace(/\.$/, "");
  const reason = plainReasons[words] ?? words.charAt(0).toLowerCase() + words.slice(1);
  if (!(error instanceof ParseError)) return { line: 1, reason };
  const lines = text.split("\n");
  let line = error.lineNumber;
  if (noticedLate.test(words) && (lines[line - 1] ?? "").slice(0, error.column).trim() === "") {
    line -= 1;
    while (line > 1 && (lines[line - 1] ?? "").trim() === "") line -= 1;
  }
  return { line: Math.max(line, 1), reason };
}

function emptyTable(): TomlTable {
  return Object.create(null) as TomlTable;
}

/** The table or array element that a header's resolved key names, made when missing. */
function tableAt(root: TomlTable, path: KeyPath): TomlTable {
  let current: TomlTable | TomlValue[] = root;
  path.forEach((part, index) => {
    const existing: TomlValue | undefined = Array.isArray(current) ? current[Number(part)] : current[part];
    let next: TomlTable | TomlValue[];
    if (Array.isArray(existing) || isTomlTable(existing)) next = existing;
    else {
      next = typeof path[index + 1] === "number" ? [] : emptyTable();
      if (Array.isArray(current)) current[Number(part)] = next;
      else current[part] = next;
    }
    current = next;
  });
  return Array.isArray(current) ? emptyTable() : current;
}

function putPair(table: TomlTable, path: KeyPath, pair: AST.TOMLKeyValue, note: (path: KeyPath, line: number) => void): void {
  const names = pair.key.keys.map((key) => (key.type === "TOMLBare" ? key.name : key.value));
  const last = names.pop();
  if (last === undefined) return;
  let target = table;
  let targetPath = path;
  for (const name of names) {
    targetPath = [...targetPath, name];
    note(targetPath, pair.loc.start.line);
    const existing = target[name];
    const next = isTomlTable(existing) ? existing : emptyTable();
    target[name] = next;
    target = next;
  }
  const valuePath = [...targetPath, last];
  note(valuePath, pair.loc.start.line);
  target[last] = readValue(pair.value, valuePath, note);
}

function readValue(node: AST.TOMLContentNode, path: KeyPath, note: (path: KeyPath, line: number) => void): TomlValue {
  if (path.length > deepestNesting) throw new TomlSyntaxError("The values are nested too deeply.", node.loc.start.line);
  if (node.type === "TOMLArray")
    return node.elements.map((element, index) => {
      const elementPath = [...path, index];
      note(elementPath, element.loc.start.line);
      return readValue(element, elementPath, note);
    });
  if (node.type === "TOMLInlineTable") {
    const table = emptyTable();
    for (const pair of node.body) putPair(table, path, pair, note);
    return table;
  }
  switch (node.kind) {
    case "string":
    case "boolean":
    case "float":
      return node.value;
    case "integer":
      return integerOf(node);
    default:
      return new TomlDate(isoOf(node.datetime, node.loc.start.line));
  }
}

/** Python reads integers of any size but refuses decimal text beyond 4300 digits. */
function integerOf(node: AST.TOMLIntegerValue): number | bigint {
  const digits = node.number.replace(/[+\-_]/g, "");
  if (!/^0[xob]/.test(digits) && digits.length > 4300) throw new TomlSyntaxError("An integer has more than 4300 digits.", node.loc.start.line);
  return Number.isSafeInteger(Number(node.bigint)) ? Number(node.bigint) : node.bigint;
}

/** pydantic's form: `T` between date and time, six fraction digits or none, `Z` for a zero offset. */
function isoOf(text: string, line: number): string {
  const parts = /^(?:(\d{4})-(\d\d)-(\d\d))?[Tt ]?(?:(\d\d:\d\d:\d\d)(?:\.(\d+))?)?([Zz]|[+-]\d\d:\d\d)?$/.exec(text);
  if (parts === null) return text;
  const [, year, month, day, time, fraction, offset] = parts;
  if (time?.endsWith(":60")) throw new TomlSyntaxError("This is not valid TOML: a minute ends at second 59.", line);
  if (year === "0000") throw new TomlSyntaxError("This is not valid TOML: year 0000 is no date.", line);
  const micros = (fraction ?? "").slice(0, 6).padEnd(6, "0");
  const timeText = time === undefined ? "" : `${time}${micros === "000000" ? "" : `.${micros}`}`;
  const dateText = year === undefined ? "" : `${year}-${month}-${day}`;
  const zone = offset === undefined ? "" : /^(?:[Zz]|[+-]00:00)$/.test(offset) ? "Z" : offset;
  return `${dateText}${dateText !== "" && timeText !== "" ? "T" : ""}${timeText}${zone}`;
}
