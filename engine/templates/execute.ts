/** Runs the statements of a template and gathers what they print. */

import { Loop, Macro, type MacroArguments, type MacroShape, Namespace } from "./builtins/objects.ts";
import type { Evaluator } from "./evaluate.ts";
import type { UnsetNames } from "./language/frame-names.ts";
import { specialNames } from "./language/special-names.ts";
import type { Expression, Parameter, Statement, Target } from "./language/syntax.ts";
import { TemplateError } from "./template-error.ts";
import { textOf } from "./values/printing.ts";
import { Scope } from "./values/scope.ts";
import { concatTexts, plainText, type Text } from "./values/text.ts";
import { Dict, iterate, Tuple, truthy, Undefined, type Value } from "./values/values.ts";

/** Printed text, piece by piece. */
export class Output {
  readonly #parts: Text[] = [];
  /** UTF-16 units so far. */
  length = 0;
  push(text: Text): void {
    this.#parts.push(text);
    this.length += plainText(text).length;
  }
  text(): Text {
    return concatTexts(this.#parts);
  }
}

/** What `{% generation %}` printed: where the whole output stood when it was reached, and its length; UTF-16 units. */
export interface GenerationSpan {
  readonly start: number;
  readonly text: string;
}

type Flow = "next" | "break" | "continue";

export class Executor {
  readonly #evaluator: Evaluator;
  readonly #unset: UnsetNames;
  readonly #root: Output;
  readonly generations: GenerationSpan[] = [];

  constructor(evaluator: Evaluator, unset: UnsetNames, root: Output) {
    this.#evaluator = evaluator;
    this.#unset = unset;
    this.#root = root;
  }

  /** The whole template. */
  run(template: readonly Statement[]): void {
    this.#body(template, this.#scope(null, template), this.#root);
  }

  #scope(outer: Scope | null, body: readonly Statement[]): Scope {
    return new Scope(outer, this.#unset.get(body));
  }

  #body(statements: readonly Statement[], scope: Scope, out: Output): Flow {
    for (const statement of statements) {
      const flow = this.#statement(statement, scope, out);
      if (flow !== "next") return flow;
    }
    return "next";
  }

  /** A body whose output is wanted as a value. */
  #capture(body: readonly Statement[], scope: Scope): { text: Text; flow: Flow } {
    const out = new Output();
    const flow = this.#body(body, scope, out);
    return { text: out.text(), flow };
  }

  #print(value: Value, out: Output): void {
    const text = textOf(value, this.#evaluator.effort);
    this.#evaluator.effort.spendText(out.length + plainText(text).length);
    out.push(text);
  }

  #statement(statement: Statement, scope: Scope, out: Output): Flow {
    const evaluator = this.#evaluator;
    evaluator.effort.spend();
    evaluator.line = statement.line;
    switch (statement.type) {
      case "data":
        this.#print(statement.text, out);
        return "next";
      case "print":
        this.#print(evaluator.evaluate(statement.value, scope), out);
        return "next";
      case "set":
        this.#assign(statement.target, evaluator.evaluate(statement.value, scope), scope);
        return "next";
      case "if":
        return this.#if(statement, scope, out);
      case "for":
        return this.#for(statement, scope, out);
      case "macro":
        scope.set(statement.name, this.#macro(statement.name, statement.parameters, statement.body, scope));
        return "next";
      case "call-block": {
        const caller = this.#macro(null, statement.parameters, statement.body, scope);
        this.#print(evaluator.call(statement.call, scope, caller), out);
        return "next";
      }
      case "set-block": {
        const { text, flow } = this.#capture(statement.body, this.#scope(scope, statement.body));
        if (flow !== "next") return flow;
        this.#assign(statement.target, statement.filter === null ? text : this.#filtered(statement.filter, text, scope), scope);
        return "next";
      }
      case "filter-block": {
        const { text, flow } = this.#capture(statement.body, this.#scope(scope, statement.body));
        if (flow === "next") this.#print(this.#filtered(statement.filter, text, scope), out);
        return flow;
      }
      case "with":
        return this.#with(statement, scope, out);
      case "scope":
        return this.#body(statement.body, this.#scope(scope, statement.body), out);
      case "generation":
        this.#generation(statement.body, scope, out);
        return "next";
      case "break":
      case "continue":
        return statement.type;
      case "load":
        throw new TemplateError("TypeError", "no loader for this environment specified");
    }
  }

  /** Filters of a block: the innermost takes the block's text. */
  #filtered(filter: Expression & { type: "filter" }, text: Text, scope: Scope): Value {
    const subject = filter.subject?.type === "filter" ? this.#filtered(filter.subject, text, scope) : text;
    return this.#evaluator.applyFilter(filter, subject, scope);
  }

  #if(statement: Statement & { type: "if" }, scope: Scope, out: Output): Flow {
    for (const { test, body } of statement.branches) {
      if (truthy(this.#evaluator.evaluate(test, scope))) return this.#body(body, scope, out);
    }
    return this.#body(statement.otherwise, scope, out);
  }

  #for(statement: Statement & { type: "for" }, scope: Scope, out: Output): Flow {
    const items = this.#evaluator.evaluate(statement.items, scope);
    if (!statement.recursive) return this.#loop(statement, items, 0, null, scope, out);
    const again = (inner: Value, depth: number): Value =>
      this.#evaluator.effort.nested(() => {
        const buffer = new Output();
        this.#loop(statement, inner, depth, again, scope, buffer);
        return buffer.text();
      });
    this.#print(again(items, 0), out);
    return "next";
  }

  #loop(
    statement: Statement & { type: "for" },
    items: Value,
    depth: number,
    again: ((items: Value, depth: number) => Value) | null,
    outer: Scope,
    out: Output,
  ): Flow {
    const { effort } = this.#evaluator;
    const source = statement.condition === null ? iterate(items) : this.#selected(statement, statement.condition, items, outer);
    const loop = new Loop(source, statement.condition === null ? items : null, depth, again, effort);
    // As in the reference, the else part is skipped only once a pass has come to its end without break or continue.
    let passed = false;
    for (let item = loop.advance(); item !== undefined; item = loop.advance()) {
      effort.spend();
      const scope = this.#scope(outer, statement.body);
      scope.set("loop", loop);
      this.#assign(statement.target, item, scope);
      const flow = this.#body(statement.body, scope, out);
      if (flow === "break") break;
      if (flow === "next") passed = true;
    }
    return passed ? "next" : this.#body(statement.otherwise, this.#scope(outer, statement.otherwise), out);
  }

  *#selected(statement: Statement & { type: "for" }, condition: Expression, items: Value, outer: Scope): Generator<Value> {
    for (const item of iterate(items)) {
      this.#evaluator.effort.spend();
      const scope = new Scope(outer);
      this.#assign(statement.target, item, scope);
      if (truthy(this.#evaluator.evaluate(condition, scope))) yield item;
    }
  }

  #with(statement: Statement & { type: "with" }, outer: Scope, out: Output): Flow {
    const values = statement.bindings.map(({ value }) => this.#evaluator.evaluate(value, outer));
    const scope = this.#scope(outer, statement.body);
    statement.bindings.forEach(({ target }, index) => {
      this.#assign(target, values[index] ?? null, scope);
    });
    return this.#body(statement.body, scope, out);
  }

  #assign(target: Target, value: Value, scope: Scope): void {
    if (target.type === "name") {
      scope.set(target.name, value);
      return;
    }
    if (target.type === "namespace-attribute") {
      const namespace = this.#evaluator.name(target.namespace, scope);
      if (!(namespace instanceof Namespace)) throw new TemplateError("TemplateRuntimeError", "cannot assign attribute on non-namespace object");
      namespace.assign(target.name, value);
      return;
    }
    const items = [...iterate(value)];
    this.#evaluator.effort.spend(items.length);
    if (items.length > target.items.length) throw new TemplateError("ValueError", `too many values to unpack (expected ${target.items.length})`);
    if (items.length < target.items.length) {
      throw new TemplateError("ValueError", `not enough values to unpack (expected ${target.items.length}, got ${items.length})`);
    }
    target.items.forEach((part, index) => {
      this.#assign(part, items[index] ?? null, scope);
    });
  }

  #macro(name: string | null, parameters: readonly Parameter[], body: readonly Statement[], defined: Scope): Macro {
    const used = specialNames(body);
    const shape: MacroShape = {
      name,
      parameters: parameters.map((parameter) => parameter.name),
      usesCaller: used.has("caller"),
      usesKeywords: used.has("kwargs"),
      usesPositional: used.has("varargs"),
    };
    return new Macro(shape, (given) => this.#evaluator.effort.nested(() => this.#invoke(parameters, body, defined, given, used)));
  }

  #invoke(parameters: readonly Parameter[], body: readonly Statement[], defined: Scope, given: MacroArguments, used: ReadonlySet<string>): Value {
    const scope = this.#scope(defined, body);
    if (given.caller !== null && used.has("caller")) scope.set("caller", given.caller);
    if (used.has("kwargs")) scope.set("kwargs", given.keywords);
    if (used.has("varargs")) scope.set("varargs", given.positional);
    parameters.forEach((parameter, index) => {
      const value = given.parameters[index];
      if (value !== undefined) scope.set(parameter.name, value);
      else if (parameter.default === null) scope.set(parameter.name, new Undefined(`parameter '${parameter.name}' was not provided`));
    });
    parameters.forEach((parameter, index) => {
      if (given.parameters[index] === undefined && parameter.default !== null)
        scope.set(parameter.name, this.#evaluator.evaluate(parameter.default, scope));
    });
    return this.#capture(body, scope).text;
  }

  #generation(body: readonly Statement[], scope: Scope, out: Output): void {
    const nothingGiven: MacroArguments = {
      parameters: [],
      caller: new Undefined("No caller defined"),
      keywords: new Dict(),
      positional: new Tuple([]),
    };
    const text = textOf(this.#invoke([], body, scope, nothingGiven, specialNames(body)), this.#evaluator.effort);
    this.generations.push({ start: this.#root.length, text: plainText(text) });
    this.#print(text, out);
  }
}
