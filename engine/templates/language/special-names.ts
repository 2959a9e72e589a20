/** The names that a macro gets only if its body reads them: `caller`, `kwargs`, `varargs`. */
import { childrenOf, type Expression, type Parameter, type Statement } from "./syntax.ts";

const specials: ReadonlySet<string> = new Set(["caller", "kwargs", "varargs"]);
const specialNamesOf = new WeakMap<readonly Statement[], ReadonlySet<string>>();

/** Which of caller, kwargs and varargs a macro's body reads. */
export function specialNames(body: readonly Statement[]): ReadonlySet<string> {
  const known = specialNamesOf.get(body);
  if (known !== undefined) return known;
  const found = new Set<string>();
  const visit = (expression: Expression): void => {
    if (expression.type === "name" && specials.has(expression.name)) found.add(expression.name);
    childrenOf(expression).forEach(visit);
  };
  const visitAll = (statements: readonly Statement[]): void => {
    for (const statement of statements) {
      expressionsOf(statement).forEach(visit);
      bodiesOf(statement).forEach(visitAll);
    }
  };
  visitAll(body);
  specialNamesOf.set(body, found);
  return found;
}

function defaultsOf(parameters: readonly Parameter[]): Expression[] {
  return parameters.map((parameter) => parameter.default).filter((value) => value !== null);
}

function expressionsOf(statement: Statement): readonly Expression[] {
  switch (statement.type) {
    case "print":
    case "set":
      return [statement.value];
    case "for":
      return statement.condition === null ? [statement.items] : [statement.items, statement.condition];
    case "if":
      return statement.branches.map((branch) => branch.test);
    case "macro":
      return defaultsOf(statement.parameters);
    case "call-block":
      return [statement.call, ...defaultsOf(statement.parameters)];
    case "set-block":
    case "filter-block":
      return statement.filter === null ? [] : [statement.filter];
    case "with":
      return statement.bindings.map((binding) => binding.value);
    default:
      return [];
  }
}

function bodiesOf(statement: Statement): readonly (readonly Statement[])[] {
  if (statement.type === "if") return [...statement.branches.map((branch) => branch.body), statement.otherwise];
  if (statement.type === "for") return [statement.body, statement.otherwise];
  return "body" in statement ? [statement.body] : [];
}
