/** Evaluates the expressions of a template. */

import { attributeOf, itemOf } from "./builtins/attributes.ts";
import { filters } from "./builtins/filters.ts";
import { globalFunctions } from "./builtins/globals.ts";
import { predicates } from "./builtins/predicates.ts";
import type { Runtime } from "./builtins/runtime.ts";
import type { CallArguments, CompareOperator, Expression, FilterExpression } from "./language/syntax.ts";
import { TemplateError } from "./template-error.ts";
import { arithmetic, negated, positive } from "./values/arithmetic.ts";
import { compare, contains, equal } from "./values/comparison.ts";
import type { Effort } from "./values/limits.ts";
import { textOf } from "./values/printing.ts";
import { type Scope, undefinedName } from "./values/scope.ts";
import { sliceOf } from "./values/slicing.ts";
import { concatTexts, isText, markCount, plainText, type Text } from "./values/text.ts";
import { Dict, isList, iterate, type Keywords, TemplateObject, Tuple, truthy, typeName, Undefined, type Value } from "./values/values.ts";

export class Evaluator implements Runtime {
  readonly effort: Effort;
  readonly now: Date;
  readonly #globals: ReadonlyMap<string, Value>;
  readonly #variables: ReadonlyMap<string, Value>;
  /** Line of what was evaluated last, for errors. */
  line = 1;

  constructor(variables: ReadonlyMap<string, Value>, now: Date, effort: Effort) {
    this.effort = effort;
    this.now = now;
    this.#variables = variables;
    this.#globals = globalFunctions(this);
  }

  attribute(object: Value, name: string): Value {
    return attributeOf(object, name, this);
  }

  item(object: Value, index: Value): Value {
    return itemOf(object, index, this);
  }

  filter(name: string, subject: Value, positional: readonly Value[], keywords: Keywords): Value {
    const body = filters.get(name);
    if (body === undefined) throw new TemplateError("TemplateRuntimeError", `No filter named '${name}' found.`);
    return body(this, [subject, ...positional], keywords);
  }

  test(name: string, subject: Value, positional: readonly Value[], keywords: Keywords): boolean {
    const body = predicates.get(name);
    if (body === undefined) throw new TemplateError("TemplateRuntimeError", `No test named '${name}' found.`);
    return truthy(body(this, [subject, ...positional], keywords));
  }

  name(name: string, scope: Scope): Value {
    const value = scope.find(name);
    return value === undefined ? this.#outside(name) : value;
  }

  #outside(name: string): Value {
    const variable = this.#variables.get(name);
    if (variable !== undefined) return variable;
    const builtin = this.#globals.get(name);
    return builtin === undefined ? undefinedName(name) : builtin;
  }

  evaluate(node: Expression, scope: Scope): Value {
    this.effort.spend();
    this.line = node.line;
    switch (node.type) {
      case "constant":
        return node.value;
      case "name":
        return this.name(node.name, scope);
      case "tuple":
        return new Tuple(node.items.map((item) => this.evaluate(item, scope)));
      case "list":
        return node.items.map((item) => this.evaluate(item, scope));
      case "dict":
        return Dict.of(node.entries.map(([key, value]) => [this.evaluate(key, scope), this.evaluate(value, scope)] as const));
      case "attribute":
        return this.attribute(this.evaluate(node.object, scope), node.name);
      case "item":
        return this.#item(node.object, node.index, scope);
      case "slice":
        throw new TemplateError("TypeError", "a slice stands where a value is needed");
      case "call":
        return this.call(node, scope, null);
      case "filter":
        return this.applyFilter(node, node.subject === null ? "" : this.evaluate(node.subject, scope), scope);
      case "test": {
        const subject = this.evaluate(node.subject, scope);
        return this.test(node.name, subject, ...this.#arguments(node.arguments, scope));
      }
      case "conditional":
        return this.#conditional(node, scope);
      case "and": {
        const left = this.evaluate(node.left, scope);
        return truthy(left) ? this.evaluate(node.right, scope) : left;
      }
      case "or": {
        const left = this.evaluate(node.left, scope);
        return truthy(left) ? left : this.evaluate(node.right, scope);
      }
      case "not":
        return !truthy(this.evaluate(node.operand, scope));
      case "negative":
        return negated(this.evaluate(node.operand, scope));
      case "positive":
        return positive(this.evaluate(node.operand, scope));
      case "compare":
        return this.#compare(node, scope);
      case "concat":
        return this.#concat(node.parts, scope);
      case "arithmetic": {
        const left = this.evaluate(node.left, scope);
        const right = this.evaluate(node.right, scope);
        return arithmetic(left, node.operator, right, this.effort);
      }
    }
  }

  #conditional(node: Expression & { type: "conditional" }, scope: Scope): Value {
    if (truthy(this.evaluate(node.test, scope))) return this.evaluate(node.value, scope);
    if (node.otherwise !== null) return this.evaluate(node.otherwise, scope);
    return new Undefined(`the inline if-expression on line ${node.line} evaluated to false and no else section was defined.`);
  }

  #concat(parts: readonly Expression[], scope: Scope): Text {
    const texts = parts.map((part) => textOf(this.evaluate(part, scope), this.effort));
    this.effort.spendText(texts.reduce((length, text) => length + plainText(text).length, 0));
    this.effort.spend(texts.reduce((count, text) => count + markCount(text), 0) >> 2);
    return concatTexts(texts);
  }

  #compare(node: Expression & { type: "compare" }, scope: Scope): boolean {
    let left = this.evaluate(node.first, scope);
    for (const { operator, operand } of node.rest) {
      const right = this.evaluate(operand, scope);
      if (!this.#holds(left, operator, right)) return false;
      left = right;
    }
    return true;
  }

  #holds(left: Value, operator: CompareOperator, right: Value): boolean {
    switch (operator) {
      case "==":
        return equal(left, right, this.effort);
      case "!=":
        return !equal(left, right, this.effort);
      case "in":
        return contains(right, left, this.effort);
      case "not in":
        return !contains(right, left, this.effort);
      default:
        return compare(left, operator, right, this.effort);
    }
  }

  #item(objectNode: Expression, index: Expression, scope: Scope): Value {
    const object = this.evaluate(objectNode, scope);
    if (index.type !== "slice") return this.item(object, this.evaluate(index, scope));
    const [start = null, stop = null, step = null] = [index.start, index.stop, index.step].map((bound) =>
      bound === null ? null : this.evaluate(bound, scope),
    );
    if (object instanceof Undefined) object.fail();
    const result = sliceOf(object, start, stop, step, this.effort);
    if (result === undefined)
      throw new TemplateError("TypeError", object instanceof Dict ? "unhashable type: 'slice'" : `'${typeName(object)}' object is not subscriptable`);
    return result;
  }

  applyFilter(node: FilterExpression, subject: Value, scope: Scope): Value {
    const [positional, keywords] = this.#arguments(node.arguments, scope);
    this.line = node.line;
    return this.filter(node.name, subject, positional, keywords);
  }

  /** A call; `caller` is the body of a call block. */
  call(node: Expression & { type: "call" }, scope: Scope, caller: Value): Value {
    const callee = this.evaluate(node.callee, scope);
    const [positional, given] = this.#arguments(node.arguments, scope);
    const keywords = caller === null ? given : new Map([...given, ["caller", caller]]);
    this.line = node.line;
    if (callee instanceof Undefined) callee.fail();
    if (!(callee instanceof TemplateObject)) throw new TemplateError("TypeError", `'${typeName(callee)}' object is not callable`);
    const result = callee.call(positional, keywords);
    this.line = node.line;
    return result;
  }

  #arguments(node: CallArguments, scope: Scope): readonly [readonly Value[], Keywords] {
    const positional = node.positional.map((argument) => this.evaluate(argument, scope));
    const keywords = new Map<string, Value>();
    for (const { name, value } of node.keywords) keywords.set(name, this.evaluate(value, scope));
    if (node.spread !== null) positional.push(...this.#spread(this.evaluate(node.spread, scope)));
    if (node.keywordSpread !== null) this.#spreadKeywords(this.evaluate(node.keywordSpread, scope), keywords);
    return [positional, keywords];
  }

  #spread(value: Value): readonly Value[] {
    const items = isList(value) ? value : [...iterate(value)];
    this.effort.spend(items.length);
    return items;
  }

  #spreadKeywords(value: Value, keywords: Map<string, Value>): void {
    if (!(value instanceof Dict)) throw new TemplateError("TypeError", `argument after ** must be a mapping, not ${typeName(value)}`);
    for (const [key, item] of value.items()) {
      if (!isText(key)) throw new TemplateError("TypeError", "keywords must be strings");
      keywords.set(plainText(key), item);
    }
  }
}
