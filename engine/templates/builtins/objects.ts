/** Objects that templates make and hold: namespaces, the loop, macros, cyclers. */

import { TemplateError } from "../template-error.ts";
import { equal } from "../values/comparison.ts";
import type { Effort } from "../values/limits.ts";
import { reprOf } from "../values/printing.ts";
import { plainText } from "../values/text.ts";
import { Callable, Dict, isList, type Keywords, lengthOf, TemplateObject, Tuple, Undefined, type Value } from "../values/values.ts";

/** The one object that a template may write to. */
export class Namespace extends TemplateObject {
  readonly typeName = "Namespace";
  readonly callable = false;
  readonly #attributes = new Map<string, Value>();
  readonly #effort: Effort;

  constructor(entries: Iterable<readonly [string, Value]>, effort: Effort) {
    super();
    this.#effort = effort;
    for (const [name, value] of entries) this.assign(name, value);
  }

  get printed(): string {
    return `<Namespace ${plainText(reprOf(Dict.of(this.#attributes), this.#effort))}>`;
  }

  override attribute(name: string): Value | undefined {
    return this.#attributes.get(name);
  }

  assign(name: string, value: Value): void {
    if (name.startsWith("_")) {
      throw new TemplateError(
        "SecurityError",
        `Chat templates cannot store underscore-prefixed attributes on a namespace, but got '${name}'. Please rename the attribute.`,
      );
    }
    this.#attributes.set(name, value);
  }
}

/** `loop` inside a for block. Goes through its items once, looking at most one ahead unless asked for the length. */
export class Loop extends TemplateObject {
  readonly typeName = "LoopContext";
  readonly callable: boolean;
  readonly #effort: Effort;
  readonly #depth: number;
  readonly #again: ((items: Value, depth: number) => Value) | null;
  #items: Iterator<Value>;
  #length: number | null;
  #index = -1;
  #before: Value | undefined;
  #current: Value | undefined;
  #ahead: Value | undefined;
  #lastChanged: Value | undefined;

  constructor(items: Iterable<Value>, whole: Value, depth: number, again: ((items: Value, depth: number) => Value) | null, effort: Effort) {
    super();
    this.#items = items[Symbol.iterator]();
    this.#length = lengthOf(whole);
    this.#depth = depth;
    this.#again = again;
    this.#effort = effort;
    this.callable = again !== null;
  }

  get printed(): string {
    return `<LoopContext ${this.#index + 1}/${this.#countAll()}>`;
  }

  /** The next item, or undefined when there is none. */
  advance(): Value | undefined {
    const item = this.#peek();
    this.#ahead = undefined;
    if (item === undefined) return undefined;
    this.#index++;
    this.#before = this.#current;
    this.#current = item;
    return item;
  }

  #peek(): Value | undefined {
    if (this.#ahead === undefined) {
      const next = this.#items.next();
      this.#ahead = next.done === true ? undefined : next.value;
    }
    return this.#ahead;
  }

  #countAll(): number {
    if (this.#length === null) {
      const rest: Value[] = this.#ahead === undefined ? [] : [this.#ahead];
      for (let next = this.#items.next(); next.done !== true; next = this.#items.next()) rest.push(next.value);
      this.#length = this.#index + 1 + rest.length;
      this.#ahead = undefined;
      this.#items = rest[Symbol.iterator]();
    }
    return this.#length;
  }

  override attribute(name: string): Value | undefined {
    switch (name) {
      case "index":
        return BigInt(this.#index + 1);
      case "index0":
        return BigInt(this.#index);
      case "revindex":
        return BigInt(this.#countAll() - this.#index);
      case "revindex0":
        return BigInt(this.#countAll() - this.#index - 1);
      case "length":
        return BigInt(this.#countAll());
      case "first":
        return this.#index === 0;
      case "last":
        return this.#peek() === undefined;
      case "depth":
        return BigInt(this.#depth + 1);
      case "depth0":
        return BigInt(this.#depth);
      case "previtem":
        return this.#before === undefined ? new Undefined("there is no previous item") : this.#before;
      case "nextitem": {
        const next = this.#peek();
        return next === undefined ? new Undefined("there is no next item") : next;
      }
      case "cycle":
        return new Callable("cycle", (values) => this.#cycle(values));
      case "changed":
        return new Callable("changed", (values) => this.#changed(values));
      default:
        return undefined;
    }
  }

  #cycle(values: readonly Value[]): Value {
    if (values.length === 0) throw new TemplateError("TypeError", "no items for cycling given");
    return values[this.#index % values.length] ?? null;
  }

  #changed(values: readonly Value[]): boolean {
    const now = new Tuple(values);
    if (this.#lastChanged !== undefined && equal(this.#lastChanged, now, this.#effort)) return false;
    this.#lastChanged = now;
    return true;
  }

  override call(positional: readonly Value[]): Value {
    if (this.#again === null) throw new TemplateError("TypeError", "The loop must have the 'recursive' marker to be called recursively.");
    return this.#again(positional[0] ?? null, this.#depth + 1);
  }
}

export interface MacroShape {
  /** null for a caller. */
  readonly name: string | null;
  readonly parameters: readonly string[];
  /** Which of the special names its body reads. */
  readonly usesCaller: boolean;
  readonly usesKeywords: boolean;
  readonly usesPositional: boolean;
}

/** Arguments of one call of a macro; undefined for a parameter that was not given. */
export interface MacroArguments {
  readonly parameters: readonly (Value | undefined)[];
  readonly caller: Value | null;
  readonly keywords: Dict;
  readonly positional: Tuple;
}

export class Macro extends TemplateObject {
  readonly typeName = "Macro";
  readonly callable = true;
  readonly #shape: MacroShape;
  readonly #body: (given: MacroArguments) => Value;

  constructor(shape: MacroShape, body: (given: MacroArguments) => Value) {
    super();
    this.#shape = shape;
    this.#body = body;
  }

  get printed(): string {
    return `<Macro ${this.#shape.name === null ? "anonymous" : `'${this.#shape.name}'`}>`;
  }

  override attribute(name: string): Value | undefined {
    const shape = this.#shape;
    if (name === "name") return shape.name;
    if (name === "arguments") return shape.parameters;
    if (name === "caller") return shape.usesCaller;
    if (name === "catch_kwargs") return shape.usesKeywords;
    return name === "catch_varargs" ? shape.usesPositional : undefined;
  }

  override call(positional: readonly Value[], keywords: Keywords): Value {
    const { parameters, usesCaller, usesKeywords, usesPositional } = this.#shape;
    const rest = new Map(keywords);
    const bound = parameters.map((name, index) => {
      if (index < positional.length) return positional[index];
      const value = rest.get(name);
      rest.delete(name);
      return value;
    });
    let caller: Value | null = null;
    if (usesCaller && !parameters.includes("caller")) {
      caller = rest.get("caller") ?? new Undefined("No caller defined");
      rest.delete("caller");
    }
    if (!usesKeywords) this.#refuse(rest);
    if (!usesPositional && positional.length > parameters.length) {
      throw new TemplateError("TypeError", `macro ${this.#quotedName()} takes not more than ${parameters.length} argument(s)`);
    }
    return this.#body({ parameters: bound, caller, keywords: Dict.of(rest), positional: new Tuple(positional.slice(parameters.length)) });
  }

  #refuse(keywords: Keywords): void {
    const [unknown] = keywords.keys();
    if (unknown === undefined) return;
    if (keywords.has("caller")) {
      throw new TemplateError(
        "TypeError",
        `macro ${this.#quotedName()} was invoked with two values for the special caller argument. This is most likely a bug.`,
      );
    }
    throw new TemplateError("TypeError", `macro ${this.#quotedName()} takes no keyword argument '${unknown}'`);
  }

  #quotedName(): string {
    return this.#shape.name === null ? "None" : `'${this.#shape.name}'`;
  }
}

/** `cycler(…)`. */
export class Cycler extends TemplateObject {
  readonly typeName = "Cycler";
  readonly callable = false;
  readonly printed = "<Cycler>";
  readonly #items: readonly Value[];
  #position = 0;

  constructor(items: readonly Value[]) {
    super();
    if (items.length === 0) throw new TemplateError("ValueError", "at least one item has to be provided");
    this.#items = items;
  }

  override attribute(name: string): Value | undefined {
    if (name === "current") return this.#items[this.#position] ?? null;
    if (name === "items") return new Tuple(this.#items);
    if (name === "reset") {
      return new Callable("reset", () => {
        this.#position = 0;
        return null;
      });
    }
    return name === "next" ? new Callable("next", () => this.#next()) : undefined;
  }

  #next(): Value {
    const item = this.#items[this.#position] ?? null;
    this.#position = (this.#position + 1) % this.#items.length;
    return item;
  }
}

/** Whether the value is a plain list or tuple of two: a pair for `dict(…)`. */
export function pairOf(value: Value): readonly [Value, Value] | null {
  const items = isList(value) ? value : value instanceof Tuple ? value.items : null;
  const [key, item] = items ?? [];
  return items?.length === 2 && key !== undefined && item !== undefined ? [key, item] : null;
}
