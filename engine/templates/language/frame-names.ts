/**
 * What the reference knows of a template before it runs: unknown filters and tests are errors at once unless a condition
 * stands before them; a name that a block sets first is undefined in it until then, even where the conversation has a
 * variable of that name (inner blocks that run earlier see the difference); `break` needs a loop.
 */

import { filters } from "../builtins/filters.ts";
import { predicates } from "../builtins/predicates.ts";
import { TemplateError } from "../template-error.ts";
import { childrenOf, type Expression, type Parameter, type Statement, type Target } from "./syntax.ts";

/** Names undefined at the beginning of a body, for the bodies that have any. */
export type UnsetNames = ReadonlyMap<readonly Statement[], readonly string[]>;

type Origin = "outside" | "unset" | "parameter";

class Frame {
  readonly names = new Map<string, Origin>();
  readonly stored = new Set<string>();
  readonly #outer: Frame | null;
  constructor(outer: Frame | null) {
    this.#outer = outer;
  }
  knows(name: string): boolean {
    return this.names.has(name) || (this.#outer?.knows(name) ?? false);
  }
  load(name: string): void {
    if (!this.knows(name)) this.names.set(name, "outside");
  }
  store(name: string, conditional: boolean): void {
    this.stored.add(name);
    if (!this.names.has(name)) this.names.set(name, conditional || (this.#outer?.knows(name) ?? false) ? "outside" : "unset");
  }
  declare(name: string): void {
    this.names.set(name, "parameter");
  }
}

interface Place {
  readonly frame: Frame;
  /** Inside a condition of this frame. */
  readonly conditional: boolean;
  readonly inLoop: boolean;
}

class Analysis {
  readonly unset = new Map<readonly Statement[], readonly string[]>();
  /** Bodies with frames of their own, done after the frame around them is known. */
  #inner: (() => void)[] = [];

  frame(body: readonly Statement[], outer: Frame | null, inLoop: boolean, declare: (frame: Frame) => void = () => undefined): void {
    const frame = new Frame(outer);
    declare(frame);
    const waiting = this.#inner;
    this.#inner = [];
    this.#statements(body, { frame, conditional: false, inLoop });
    const unset = [...frame.names].filter(([, origin]) => origin === "unset").map(([name]) => name);
    if (unset.length > 0) this.unset.set(body, unset);
    for (const work of this.#inner) work();
    this.#inner = waiting;
  }

  #statements(statements: readonly Statement[], place: Place): void {
    for (const statement of statements) this.#statement(statement, place);
  }

  #statement(statement: Statement, place: Place): void {
    const { frame } = place;
    switch (statement.type) {
      case "data":
      case "load":
        return;
      case "print":
        this.#expression(statement.value, place);
        return;
      case "break":
      case "continue":
        if (!place.inLoop) throw new TemplateError("TemplateSyntaxError", `'${statement.type}' outside loop`, statement.line);
        return;
      case "set":
        this.#expression(statement.value, place);
        this.#target(statement.target, place);
        return;
      case "if": {
        const inside = { ...place, conditional: true };
        statement.branches.forEach(({ test, body }, index) => {
          this.#expression(test, index === 0 ? place : inside);
          this.#statements(body, inside);
        });
        this.#statements(statement.otherwise, inside);
        return;
      }
      case "for":
        this.#expression(statement.items, place);
        this.#later(() => this.#loop(statement, frame, place.inLoop && !statement.recursive));
        return;
      case "macro":
        frame.store(statement.name, place.conditional);
        this.#later(() => this.#function(statement.parameters, statement.body, frame));
        return;
      case "call-block":
        this.#expression(statement.call, place);
        this.#later(() => this.#function(statement.parameters, statement.body, frame));
        return;
      case "set-block":
        this.#target(statement.target, place);
        if (statement.filter !== null) this.#expression(statement.filter, place);
        this.#later(() => this.frame(statement.body, frame, place.inLoop));
        return;
      case "filter-block":
        this.#expression(statement.filter, place);
        this.#later(() => this.frame(statement.body, frame, place.inLoop));
        return;
      case "with":
        for (const { value } of statement.bindings) this.#expression(value, place);
        this.#later(() => this.#with(statement, frame, place.inLoop));
        return;
      case "generation":
        this.#later(() => this.frame(statement.body, frame, false));
        return;
      case "scope":
        this.#later(() => this.frame(statement.body, frame, place.inLoop));
        return;
    }
  }

  #later(work: () => void): void {
    this.#inner.push(work);
  }

  #loop(statement: Statement & { type: "for" }, outer: Frame, inLoop: boolean): void {
    const declare = (frame: Frame): void => {
      declareTarget(statement.target, frame);
      frame.declare("loop");
      if (statement.condition !== null) this.#expression(statement.condition, { frame, conditional: false, inLoop: true });
    };
    this.frame(statement.body, outer, true, declare);
    this.frame(statement.otherwise, outer, inLoop);
  }

  #with(statement: Statement & { type: "with" }, outer: Frame, inLoop: boolean): void {
    this.frame(statement.body, outer, inLoop, (frame) => {
      for (const { target } of statement.bindings) declareTarget(target, frame);
    });
  }

  #function(parameters: readonly Parameter[], body: readonly Statement[], outer: Frame): void {
    this.frame(body, outer, false, (frame) => {
      for (const name of ["caller", "kwargs", "varargs", ...parameters.map((parameter) => parameter.name)]) frame.declare(name);
      for (const { default: value } of parameters) if (value !== null) this.#expression(value, { frame, conditional: false, inLoop: false });
    });
  }

  #target(target: Target, place: Place): void {
    if (target.type === "tuple") for (const item of target.items) this.#target(item, place);
    else if (target.type === "name") place.frame.store(target.name, place.conditional);
    else place.frame.load(target.namespace);
  }

  #expression(expression: Expression, place: Place): void {
    if (expression.type === "name") place.frame.load(expression.name);
    if (expression.type === "filter") requireKnown("filter", expression.name, filters.has(expression.name), expression.line, place);
    if (expression.type === "test") requireKnown("test", expression.name, predicates.has(expression.name), expression.line, place);
    const inside = expression.type === "conditional" ? { ...place, conditional: true } : place;
    for (const child of childrenOf(expression)) this.#expression(child, inside);
  }
}

function requireKnown(kind: "filter" | "test", name: string, known: boolean, line: number, place: Place): void {
  if (!known && !place.conditional) throw new TemplateError("TemplateAssertionError", `No ${kind} named '${name}'.`, line);
}

function declareTarget(target: Target, frame: Frame): void {
  if (target.type === "tuple") for (const item of target.items) declareTarget(item, frame);
  else if (target.type === "name") frame.declare(target.name);
}

/** Throws `TemplateError` for what the reference refuses before rendering. */
export function analyseTemplate(template: readonly Statement[]): UnsetNames {
  const analysis = new Analysis();
  analysis.frame(template, null, false);
  return analysis.unset;
}
