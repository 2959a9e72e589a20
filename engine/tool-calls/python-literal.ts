/**
 * Python literals as JSON values: strings in every quoting, numbers, True/False/None (and their JSON names), lists, dicts.
 * Anything else is refused, so nothing can be evaluated.
 */
import type { JsonValue } from "../json/index.ts";

/** Thrown inside `attempt` only: the text ends too early, or does not fit. */
class Stop extends Error {
  readonly open: boolean;
  constructor(open: boolean) {
    super(open ? "the text ends inside a literal" : "not a literal");
    this.open = open;
  }
}

const identifier = /[A-Za-z_]\w*/y;
/** Everything that may belong to a number; what it says is checked once its end is seen. */
const numberCharacters = /[+-]?\s*[0-9.](?:[eE][+-]|[\w.])*/y;
const begunSign = /^[+-]\s*$/;
const digits = "[0-9](?:_?[0-9])*";
const integer = /^[+-]?(?:0[xX](?:_?[0-9a-fA-F])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+|0(?:_?0)*|[1-9](?:_?[0-9])*)$/;
const float = new RegExp(`^[+-]?(?:(?:${digits})?\\.${digits}|${digits}\\.)(?:[eE][+-]?${digits})?$|^[+-]?${digits}[eE][+-]?${digits}$`);
const stringOpening = /([rRuU]?)("""|'''|"|')/y;
const begunStringOpening = /^(?:[rRuU]|[rRuU]?(?:""?|''?))$/;
const names: Readonly<Record<string, JsonValue>> = { True: true, False: false, None: null, true: true, false: false, null: null };
const simpleEscapes: Readonly<Record<string, string>> = {
  "\n": "",
  "\\": "\\",
  "'": "'",
  '"': '"',
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};
const maxDepth = 200;

export type Attempt =
  | { readonly state: "whole"; readonly end: number }
  | { readonly state: "open" }
  | { readonly state: "broken"; readonly at: number };

export class PythonReader {
  readonly #text: string;
  #position: number;
  #depth = 0;

  constructor(text: string, position: number) {
    this.#text = text;
    this.#position = position;
  }

  /** Runs a reading; tells whether it went through, wants more text, or met what does not fit. */
  attempt(reading: () => void): Attempt {
    try {
      reading();
      return { state: "whole", end: this.#position };
    } catch (error) {
      if (!(error instanceof Stop)) throw error;
      return error.open ? { state: "open" } : { state: "broken", at: this.#position };
    }
  }

  fail(): never {
    throw new Stop(this.#position >= this.#text.length);
  }

  expect(character: string): void {
    this.#skipSpace();
    if (this.#text[this.#position] !== character) this.fail();
    this.#position++;
  }

  /** Items up to `closer`, commas between them; one after the last is allowed. */
  list(closer: string, item: () => void): void {
    if (++this.#depth > maxDepth) throw new Stop(false);
    while (!this.#take(closer)) {
      item();
      if (this.#take(",")) continue;
      this.expect(closer);
      break;
    }
    this.#depth--;
  }

  name(): string {
    this.#skipSpace();
    const found = this.#match(identifier);
    if (found === null || this.#position === this.#text.length) this.fail();
    return found[0];
  }

  dottedName(): string {
    const parts = [this.name()];
    while (this.#take(".")) parts.push(this.name());
    return parts.join(".");
  }

  value(): JsonValue {
    this.#skipSpace();
    const character = this.#text[this.#position];
    if (character === "[") return this.#listValue();
    if (character === "{") return this.#dict();
    const text = this.#strings();
    if (text !== null) return text;
    const start = this.#position;
    if (begunSign.test(this.#text.slice(start))) throw new Stop(true);
    const written = this.#match(numberCharacters);
    if (written !== null) return this.#number(written[0]);
    const word = this.name();
    const value = names[word];
    if (value !== undefined) return value;
    this.#position = start;
    throw new Stop(false);
  }

  #listValue(): JsonValue {
    this.expect("[");
    const items: JsonValue[] = [];
    this.list("]", () => items.push(this.value()));
    return items;
  }

  #dict(): JsonValue {
    this.expect("{");
    const entries = new Map<string, JsonValue>();
    this.list("}", () => {
      const key = this.value();
      this.expect(":");
      if (typeof key === "object" && key !== null) throw new Stop(false);
      entries.set(String(key), this.value());
    });
    return entries;
  }

  #number(written: string): JsonValue {
    if (this.#position === this.#text.length) throw new Stop(true);
    const plain = written.replace(/[_\s]/g, "");
    if (integer.test(written.replace(/\s/g, ""))) return plain.startsWith("-") ? -BigInt(plain.slice(1)) : BigInt(plain.replace("+", ""));
    const value = Number(plain);
    if (!float.test(written.replace(/\s/g, "")) || !Number.isFinite(value)) throw new Stop(false);
    return value;
  }

  /** One string or several side by side, which Python joins; null when none begins here. */
  #strings(): string | null {
    let joined: string | null = null;
    for (;;) {
      if (begunStringOpening.test(this.#text.slice(this.#position, this.#position + 4))) throw new Stop(true);
      const opened = this.#match(stringOpening);
      if (opened === null) return joined;
      joined = (joined ?? "") + this.#string(opened[2] ?? "", /r/i.test(opened[1] ?? ""));
      this.#skipSpace();
    }
  }

  #string(quote: string, raw: boolean): string {
    let value = "";
    for (;;) {
      const character = this.#text[this.#position];
      if (character === undefined) throw new Stop(true);
      if (this.#text.startsWith(quote, this.#position)) {
        this.#position += quote.length;
        return value;
      }
      if (quote.length === 3 && quote.startsWith(this.#text.slice(this.#position))) throw new Stop(true);
      if (character === "\n" && quote.length === 1) throw new Stop(false);
      if (character !== "\\") {
        value += character;
        this.#position++;
      } else value += raw ? this.#rawEscape() : this.#escape();
    }
  }

  #rawEscape(): string {
    const pair = this.#text.slice(this.#position, this.#position + 2);
    this.#position += pair.length;
    return pair;
  }

  #escape(): string {
    const rest = this.#text.slice(this.#position + 1, this.#position + 10);
    const letter = rest[0];
    if (letter === undefined) throw new Stop(true);
    const simple = simpleEscapes[letter];
    if (simple !== undefined) {
      this.#position += 2;
      return simple;
    }
    const octal = /^[0-7]{1,3}/.exec(rest)?.[0];
    if (octal !== undefined) {
      this.#position += 1 + octal.length;
      return String.fromCodePoint(Number.parseInt(octal, 8));
    }
    const width = { x: 2, u: 4, U: 8 }[letter];
    if (width !== undefined) return this.#hexEscape(rest.slice(1, 1 + width), width);
    if (letter === "N") throw new Stop(false);
    this.#position += 2;
    return `\\${letter}`;
  }

  #hexEscape(digits: string, width: number): string {
    if (!/^[0-9a-fA-F]*$/.test(digits)) throw new Stop(false);
    if (digits.length < width) throw new Stop(true);
    const point = Number.parseInt(digits, 16);
    if (point > 0x10ffff) throw new Stop(false);
    this.#position += 2 + width;
    return String.fromCodePoint(point);
  }

  #skipSpace(): void {
    while (/\s/.test(this.#text.charAt(this.#position))) this.#position++;
  }

  #take(character: string): boolean {
    this.#skipSpace();
    if (this.#text[this.#position] !== character) return false;
    this.#position++;
    return true;
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#position;
    const found = pattern.exec(this.#text);
    if (found !== null) this.#position = pattern.lastIndex;
    return found;
  }
}

/** The value of a text that is one Python literal and nothing else; undefined when it is none. */
export function readPythonLiteral(text: string): JsonValue | undefined {
  // The closing parenthesis tells the reader that the literal goes no further.
  const reader = new PythonReader(`${text})`, 0);
  let value: JsonValue | undefined;
  const read = reader.attempt(() => {
    value = reader.value();
    reader.expect(")");
  });
  return read.state === "whole" && read.end === text.length + 1 ? value : undefined;
}
