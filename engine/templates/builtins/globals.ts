/** Functions that every template finds: range, dict, namespace and the reference's own. */

import { TemplateError } from "../template-error.ts";
import { textOf } from "../values/printing.ts";
import { isText, plainText } from "../values/text.ts";
import { Callable, Dict, iterate, Range, TemplateObject, typeName, Undefined, type Value } from "../values/values.ts";
import { Cycler, Namespace, pairOf } from "./objects.ts";
import type { Builtin, Runtime } from "./runtime.ts";
import { asText, at, bindArguments } from "./signature.ts";
import { strftime } from "./strftime.ts";

const maxRange = 100_000;

function wholeNumber(value: Value): bigint {
  if (typeof value === "bigint" || typeof value === "boolean") return BigInt(value);
  if (value instanceof Undefined) value.fail();
  throw new TemplateError("TypeError", `'${typeName(value)}' object cannot be interpreted as an integer`);
}

const range: Builtin = (_runtime, positional, keywords) => {
  if (keywords.size > 0) throw new TemplateError("TypeError", "range() takes no keyword arguments");
  if (positional.length === 0 || positional.length > 3)
    throw new TemplateError("TypeError", `range expected 1 to 3 arguments, got ${positional.length}`);
  const [first = 0n, second, step = 1n] = positional.map(wholeNumber);
  if (step === 0n) throw new TemplateError("ValueError", "range() arg 3 must not be zero");
  const result = second === undefined ? new Range(0n, first, step) : new Range(first, second, step);
  if (result.length > maxRange)
    throw new TemplateError("OverflowError", `Range too big. The sandbox blocks ranges larger than MAX_RANGE (${maxRange}).`);
  return result;
};

/** Python's `dict(mapping or pairs, **keywords)`. */
const dict: Builtin = ({ effort }, positional, keywords) => {
  if (positional.length > 1) throw new TemplateError("TypeError", `dict expected at most 1 argument, got ${positional.length}`);
  const result = new Dict();
  const [given] = positional;
  if (given instanceof Dict) for (const [key, value] of given.items()) result.put(key, value);
  else if (given !== undefined) {
    for (const item of iterate(given)) {
      effort.spend();
      const pair = pairOf(item);
      if (pair === null) throw new TemplateError("ValueError", "dictionary update sequence element is not a pair");
      result.put(...pair);
    }
  }
  for (const [key, value] of keywords) result.put(key, value);
  effort.spend(result.size);
  return result;
};

const namespace: Builtin = (runtime, positional, keywords) => {
  const entries: [string, Value][] = [];
  const attributes = dict(runtime, positional, keywords);
  if (attributes instanceof Dict) for (const [key, value] of attributes.items()) entries.push([isText(key) ? plainText(key) : "", value]);
  return new Namespace(entries, runtime.effort);
};

const joiner: Builtin = (_runtime, positional, keywords) => {
  const separator = at(bindArguments("Joiner", [["sep", ", "]], positional, keywords), 0);
  let used = false;
  return new Callable("joiner", () => {
    if (used) return separator;
    used = true;
    return "";
  });
};

const strftimeNow: Builtin = ({ now }, positional, keywords) => {
  const format = at(bindArguments("strftime_now", [["format"]], positional, keywords), 0);
  return strftime(plainText(asText(format, "strftime")), now);
};

const raiseException: Builtin = ({ effort }, positional, keywords) => {
  const message = at(bindArguments("raise_exception", [["message"]], positional, keywords), 0);
  throw new TemplateError("raise_exception", plainText(textOf(message, effort)));
};

const functions: readonly (readonly [string, Builtin])[] = [
  ["range", range],
  ["dict", dict],
  ["namespace", namespace],
  ["cycler", (_runtime, positional) => new Cycler(positional)],
  ["joiner", joiner],
  ["strftime_now", strftimeNow],
  ["raise_exception", raiseException],
];

/** `dict.fromkeys` beside the call itself. */
class DictFunction extends TemplateObject {
  readonly typeName = "TemplateDict";
  readonly callable = true;
  readonly printed = "<TemplateDict>";
  readonly #runtime: Runtime;
  constructor(runtime: Runtime) {
    super();
    this.#runtime = runtime;
  }
  override call(positional: readonly Value[], keywords: ReadonlyMap<string, Value>): Value {
    return dict(this.#runtime, positional, keywords);
  }
  override attribute(name: string): Value | undefined {
    return name === "fromkeys" ? this.#runtime.attribute(new Dict(), "fromkeys") : undefined;
  }
}

export function globalFunctions(runtime: Runtime): ReadonlyMap<string, Value> {
  const result = new Map<string, Value>(
    functions.map(([name, body]) => [name, new Callable(name, (positional, keywords) => body(runtime, positional, keywords))]),
  );
  result.set("dict", new DictFunction(runtime));
  return result;
}
