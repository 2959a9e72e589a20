/**
 * A JSON text with the places of its parts: any sub-value can be had as it was written. For the fields that are kept as
 * text (tool schemas, unknown parts), so that key order and number spelling survive.
 */
import { JsonReader, type JsonReadOptions, parseJson } from "./read.ts";
import type { JsonValue } from "./value.ts";

export class JsonSlice {
  readonly #source: string;
  readonly #start: number;
  readonly #end: number;
  readonly #options: JsonReadOptions;

  /** Use `sliceJson`, which checks the text first. */
  constructor(source: string, start: number, end: number, options: JsonReadOptions) {
    this.#source = source;
    this.#start = start;
    this.#end = end;
    this.#options = options;
  }

  /** The value exactly as written. */
  get text(): string {
    return this.#source.slice(this.#start, this.#end);
  }

  get kind(): "object" | "array" | "string" | "number" | "boolean" | "null" {
    switch (this.#source[this.#start]) {
      case "{":
        return "object";
      case "[":
        return "array";
      case '"':
        return "string";
      case "t":
      case "f":
        return "boolean";
      case "n":
        return "null";
      default:
        return "number";
    }
  }

  value(): JsonValue {
    return new JsonReader(this.#source, this.#start, this.#options).value();
  }

  /** The entries of an object in their order (a repeated key: first place, last value); empty for anything else. */
  entries(): ReadonlyMap<string, JsonSlice> {
    const result = new Map<string, JsonSlice>();
    if (this.kind !== "object") return result;
    const reader = new JsonReader(this.#source, this.#start, this.#options);
    reader.eachEntry((key) => result.set(key, this.#child(reader)));
    return result;
  }

  /** The elements of an array; empty for anything else. */
  items(): readonly JsonSlice[] {
    const result: JsonSlice[] = [];
    if (this.kind !== "array") return result;
    const reader = new JsonReader(this.#source, this.#start, this.#options);
    reader.eachItem(() => result.push(this.#child(reader)));
    return result;
  }

  #child(reader: JsonReader): JsonSlice {
    const start = reader.position;
    reader.value();
    return new JsonSlice(this.#source, start, reader.position, this.#options);
  }
}

/** Checks a text and gives access to its parts as written. Throws `JsonSyntaxError`. */
export function sliceJson(text: string, options: JsonReadOptions = {}): JsonSlice {
  parseJson(text, options);
  const reader = new JsonReader(text, 0, options);
  reader.skipSpace();
  const start = reader.position;
  return new JsonSlice(text, start, text.trimEnd().length, options);
}
