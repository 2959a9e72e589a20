/**
 * Reads JSON text without losing anything: see value.ts for what becomes of numbers and keys.
 * A repeated key keeps its first place and its last value, as in Python. Depth and the length of a number are bounded, so
 * that hostile text costs linear time and no stack.
 */
import { JsonSyntaxError, type JsonValue } from "./value.ts";

/** Nesting beyond this is refused. */
const maxDepth = 1000;
/** Digits of one integer beyond this are refused, as Python does. */
const maxIntegerDigits = 4300;

export interface JsonReadOptions {
  /** Also read the bare words `NaN`, `Infinity` and `-Infinity`, which some inference servers write. */
  readonly nonFinite?: boolean;
  /** Refuse an object that has one key twice, as file formats do whose keys are names. */
  readonly uniqueKeys?: boolean;
}

/** Everything but quotes, backslashes and control characters. */
const plainCharacters = /[ !#-[\]-\uffff]*/y;
const number = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y;
const fourHexDigits = /[0-9a-fA-F]{4}/y;
const simpleEscapes: Readonly<Record<string, string>> = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};

/** One pass over a text. `position` always stands on the next character to read. */
export class JsonReader {
  readonly text: string;
  position: number;
  readonly #nonFinite: boolean;
  readonly #uniqueKeys: boolean;
  #depth = 0;

  constructor(text: string, position: number, options: JsonReadOptions = {}) {
    this.text = text;
    this.position = position;
    this.#nonFinite = options.nonFinite ?? false;
    this.#uniqueKeys = options.uniqueKeys ?? false;
  }

  fail(problem: string, offset = this.position): never {
    throw new JsonSyntaxError(problem, this.text, offset);
  }

  skipSpace(): void {
    for (;;) {
      const code = this.text.charCodeAt(this.position);
      if (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) this.position++;
      else return;
    }
  }

  value(): JsonValue {
    const code = this.text.charCodeAt(this.position);
    switch (code) {
      case 0x22:
        return this.string();
      case 0x7b:
        return this.#object();
      case 0x5b:
        return this.#array();
      case 0x74:
        return this.#word("true", true);
      case 0x66:
        return this.#word("false", false);
      case 0x6e:
        return this.#word("null", null);
      default:
        return this.#number();
    }
  }

  /** Calls `entry` with each key of the object that begins here; `entry` must read the value. */
  eachEntry(entry: (key: string) => void): void {
    this.#enter();
    this.skipSpace();
    for (let first = true; !this.#take("}"); first = false) {
      if (!first && !this.#take(",")) this.fail(`expected "," or "}" in an object, ${this.#found()}`);
      this.skipSpace();
      if (this.text[this.position] !== '"') this.fail(`expected a key in double quotes, ${this.#found()}`);
      const key = this.string();
      this.skipSpace();
      if (!this.#take(":")) this.fail(`expected ":" after the key ${JSON.stringify(key)}, ${this.#found()}`);
      this.skipSpace();
      entry(key);
      this.skipSpace();
    }
    this.#depth--;
  }

  /** Calls `item` for each element of the array that begins here; `item` must read it. */
  eachItem(item: () => void): void {
    this.#enter();
    this.skipSpace();
    for (let first = true; !this.#take("]"); first = false) {
      if (!first && !this.#take(",")) this.fail(`expected "," or "]" in an array, ${this.#found()}`);
      this.skipSpace();
      item();
      this.skipSpace();
    }
    this.#depth--;
  }

  string(): string {
    const start = this.position;
    this.position++;
    let result = "";
    for (;;) {
      plainCharacters.lastIndex = this.position;
      plainCharacters.test(this.text);
      result += this.text.slice(this.position, plainCharacters.lastIndex);
      this.position = plainCharacters.lastIndex;
      const character = this.text[this.position];
      if (character === '"') {
        this.position++;
        return result;
      }
      if (character === undefined) this.fail("this string is never closed", start);
      if (character !== "\\") this.fail("a control character must be written as an escape inside a string");
      result += this.#escape();
    }
  }

  #escape(): string {
    const letter = this.text[this.position + 1] ?? "";
    const simple = simpleEscapes[letter];
    if (simple !== undefined) {
      this.position += 2;
      return simple;
    }
    fourHexDigits.lastIndex = this.position + 2;
    if (letter !== "u" || !fourHexDigits.test(this.text)) this.fail("no such escape in a string");
    const unit = Number.parseInt(this.text.slice(this.position + 2, this.position + 6), 16);
    this.position += 6;
    return String.fromCharCode(unit);
  }

  #object(): JsonValue {
    const result = new Map<string, JsonValue>();
    this.eachEntry((key) => {
      if (this.#uniqueKeys && result.has(key)) this.fail(`the key ${JSON.stringify(key)} stands here twice`);
      result.set(key, this.value());
    });
    return result;
  }

  #array(): JsonValue {
    const result: JsonValue[] = [];
    this.eachItem(() => result.push(this.value()));
    return result;
  }

  #word<T extends JsonValue>(word: string, value: T): T {
    if (!this.text.startsWith(word, this.position)) this.fail(`expected a value, ${this.#found()}`);
    this.position += word.length;
    return value;
  }

  #number(): JsonValue {
    number.lastIndex = this.position;
    const match = number.exec(this.text);
    if (match === null) return this.#nonFiniteWord();
    const written = match[0];
    if (match[1] === undefined && match[2] === undefined) {
      if (written.length > maxIntegerDigits) this.fail(`an integer of more than ${maxIntegerDigits} digits`);
      this.position += written.length;
      return BigInt(written);
    }
    this.position += written.length;
    return Number(written);
  }

  #nonFiniteWord(): number {
    if (this.#nonFinite) {
      if (this.text.startsWith("NaN", this.position)) return this.#word("NaN", Number.NaN);
      if (this.text.startsWith("Infinity", this.position)) return this.#word("Infinity", Number.POSITIVE_INFINITY);
      if (this.text.startsWith("-Infinity", this.position)) return this.#word("-Infinity", Number.NEGATIVE_INFINITY);
    }
    return this.fail(`expected a value, ${this.#found()}`);
  }

  #take(character: string): boolean {
    if (this.text[this.position] !== character) return false;
    this.position++;
    return true;
  }

  #enter(): void {
    if (++this.#depth > maxDepth) this.fail(`nested deeper than ${maxDepth}`);
    this.position++;
  }

  #found(): string {
    const point = this.text.codePointAt(this.position);
    return point === undefined ? "found the end of the text" : `found ${JSON.stringify(String.fromCodePoint(point))}`;
  }
}

/** Reads a whole text as one JSON value. Throws `JsonSyntaxError` with the offset of the fault. */
export function parseJson(text: string, options: JsonReadOptions = {}): JsonValue {
  const reader = new JsonReader(text, 0, options);
  reader.skipSpace();
  const value = reader.value();
  reader.skipSpace();
  if (reader.position < text.length) reader.fail("expected nothing after the value");
  return value;
}
