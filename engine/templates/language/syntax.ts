/** The tree of a parsed template. */

interface Position {
  readonly line: number;
}

export type Expression = Position &
  (
    | { readonly type: "constant"; readonly value: null | boolean | bigint | number | string }
    | { readonly type: "name"; readonly name: string }
    | { readonly type: "tuple" | "list"; readonly items: readonly Expression[] }
    | { readonly type: "dict"; readonly entries: readonly (readonly [Expression, Expression])[] }
    | { readonly type: "attribute"; readonly object: Expression; readonly name: string }
    | { readonly type: "item"; readonly object: Expression; readonly index: Expression }
    | { readonly type: "slice"; readonly start: Expression | null; readonly stop: Expression | null; readonly step: Expression | null }
    | { readonly type: "call"; readonly callee: Expression; readonly arguments: CallArguments }
    | FilterExpression
    | { readonly type: "test"; readonly subject: Expression; readonly name: string; readonly arguments: CallArguments }
    | { readonly type: "conditional"; readonly test: Expression; readonly value: Expression; readonly otherwise: Expression | null }
    | { readonly type: "and" | "or"; readonly left: Expression; readonly right: Expression }
    | { readonly type: "not" | "negative" | "positive"; readonly operand: Expression }
    | {
        readonly type: "compare";
        readonly first: Expression;
        readonly rest: readonly { readonly operator: CompareOperator; readonly operand: Expression }[];
      }
    | { readonly type: "concat"; readonly parts: readonly Expression[] }
    | {
        readonly type: "arithmetic";
        readonly operator: "+" | "-" | "*" | "/" | "//" | "%" | "**";
        readonly left: Expression;
        readonly right: Expression;
      }
  );

/** `subject` null: the body of a filter or set block. */
export type FilterExpression = Position & {
  readonly type: "filter";
  readonly subject: Expression | null;
  readonly name: string;
  readonly arguments: CallArguments;
};

export type CompareOperator = "==" | "!=" | "<" | "<=" | ">" | ">=" | "in" | "not in";

export interface CallArguments {
  readonly positional: readonly Expression[];
  readonly keywords: readonly { readonly name: string; readonly value: Expression }[];
  /** `*args` and `**kwargs`. */
  readonly spread: Expression | null;
  readonly keywordSpread: Expression | null;
}

export type Target = Position &
  (
    | { readonly type: "name"; readonly name: string }
    | { readonly type: "tuple"; readonly items: readonly Target[] }
    | { readonly type: "namespace-attribute"; readonly namespace: string; readonly name: string }
  );

export interface Parameter {
  readonly name: string;
  readonly default: Expression | null;
}

export type Statement = Position &
  (
    | { readonly type: "data"; readonly text: string }
    | { readonly type: "print"; readonly value: Expression }
    | {
        readonly type: "for";
        readonly target: Target;
        readonly items: Expression;
        readonly condition: Expression | null;
        readonly recursive: boolean;
        readonly body: readonly Statement[];
        readonly otherwise: readonly Statement[];
      }
    | {
        readonly type: "if";
        readonly branches: readonly { readonly test: Expression; readonly body: readonly Statement[] }[];
        readonly otherwise: readonly Statement[];
      }
    | { readonly type: "set"; readonly target: Target; readonly value: Expression }
    | { readonly type: "set-block"; readonly target: Target; readonly filter: FilterExpression | null; readonly body: readonly Statement[] }
    | { readonly type: "macro"; readonly name: string; readonly parameters: readonly Parameter[]; readonly body: readonly Statement[] }
    | {
        readonly type: "call-block";
        readonly parameters: readonly Parameter[];
        readonly call: Expression & { type: "call" };
        readonly body: readonly Statement[];
      }
    | { readonly type: "filter-block"; readonly filter: FilterExpression; readonly body: readonly Statement[] }
    | {
        readonly type: "with";
        readonly bindings: readonly { readonly target: Target; readonly value: Expression }[];
        readonly body: readonly Statement[];
      }
    | { readonly type: "generation" | "scope"; readonly body: readonly Statement[] }
    | { readonly type: "break" | "continue" }
    /** `include`, `import`, `extends`: parsed, and refused when reached, as there is nothing to load from. */
    | { readonly type: "load" }
  );

function argumentsOf(call: CallArguments): Expression[] {
  return [...call.positional, ...call.keywords.map((keyword) => keyword.value), ...[call.spread, call.keywordSpread].filter((part) => part !== null)];
}

function subjectOf(filter: FilterExpression): Expression[] {
  return filter.subject === null ? [] : [filter.subject];
}

/** The expressions directly inside one. */
export function childrenOf(expression: Expression): readonly Expression[] {
  switch (expression.type) {
    case "constant":
    case "name":
      return [];
    case "tuple":
    case "list":
      return expression.items;
    case "dict":
      return expression.entries.flat();
    case "attribute":
      return [expression.object];
    case "item":
      return [expression.object, expression.index];
    case "slice":
      return [expression.start, expression.stop, expression.step].filter((part) => part !== null);
    case "call":
      return [expression.callee, ...argumentsOf(expression.arguments)];
    case "filter":
      return [...subjectOf(expression), ...argumentsOf(expression.arguments)];
    case "test":
      return [expression.subject, ...argumentsOf(expression.arguments)];
    case "conditional":
      return [expression.test, expression.value, ...(expression.otherwise === null ? [] : [expression.otherwise])];
    case "and":
    case "or":
    case "arithmetic":
      return [expression.left, expression.right];
    case "not":
    case "negative":
    case "positive":
      return [expression.operand];
    case "compare":
      return [expression.first, ...expression.rest.map((part) => part.operand)];
    case "concat":
      return expression.parts;
  }
}
