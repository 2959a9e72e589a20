/** All tests (`is …`) by name. */
import { arithmetic } from "../values/arithmetic.ts";
import { asNumber, compare, contains, equal, type OrderOperator } from "../values/comparison.ts";
import { textOf } from "../values/printing.ts";
import { isText, MarkedText, plainText } from "../values/text.ts";
import { isLower, isUpper } from "../values/text-case.ts";
import { Dict, isIterable, isList, lengthOf, Range, TemplateObject, Tuple, Undefined, type Value } from "../values/values.ts";
import { filters } from "./filters.ts";
import type { Builtin } from "./runtime.ts";
import { at, bindArguments } from "./signature.ts";

function unary(name: string, test: (value: Value) => boolean): readonly [string, Builtin] {
  return [name, (_runtime, positional, keywords) => test(at(bindArguments(`test_${name}`, [["value"]], positional, keywords), 0))];
}

function ordered(names: readonly string[], operator: OrderOperator): (readonly [string, Builtin])[] {
  const body: Builtin = ({ effort }, positional, keywords) => {
    const bound = bindArguments(operator, [["a"], ["b"]], positional, keywords);
    return compare(at(bound, 0), operator, at(bound, 1), effort);
  };
  return names.map((name) => [name, body] as const);
}

function equality(names: readonly string[], wanted: boolean): (readonly [string, Builtin])[] {
  const body: Builtin = ({ effort }, positional, keywords) => {
    const bound = bindArguments("eq", [["a"], ["b"]], positional, keywords);
    return equal(at(bound, 0), at(bound, 1), effort) === wanted;
  };
  return names.map((name) => [name, body] as const);
}

function remainder(name: string, wanted: bigint): readonly [string, Builtin] {
  return [
    name,
    ({ effort }, positional, keywords) =>
      equal(arithmetic(at(bindArguments(`test_${name}`, [["value"]], positional, keywords), 0), "%", 2n, effort), wanted, effort),
  ];
}

const divisibleBy: Builtin = ({ effort }, positional, keywords) => {
  const bound = bindArguments("test_divisibleby", [["value"], ["num"]], positional, keywords);
  return equal(arithmetic(at(bound, 0), "%", at(bound, 1), effort), 0n, effort);
};

const within: Builtin = ({ effort }, positional, keywords) => {
  const bound = bindArguments("test_in", [["value"], ["seq"]], positional, keywords);
  return contains(at(bound, 1), at(bound, 0), effort);
};

const sameAs: Builtin = (_runtime, positional, keywords) => {
  const bound = bindArguments("test_sameas", [["value"], ["other"]], positional, keywords);
  const [value, other] = [at(bound, 0), at(bound, 1)];
  return isText(value) && isText(other) ? plainText(value) === plainText(other) : value === other;
};

function cased(name: string, test: (plain: string) => boolean): readonly [string, Builtin] {
  return [
    name,
    ({ effort }, positional, keywords) => test(plainText(textOf(at(bindArguments(`test_${name}`, [["value"]], positional, keywords), 0), effort))),
  ];
}

function isSequence(value: Value): boolean {
  return (
    isText(value) ||
    isList(value) ||
    value instanceof Tuple ||
    value instanceof Dict ||
    value instanceof Range ||
    (value instanceof Undefined && lengthOf(value) === 0)
  );
}

function isCallable(value: Value): boolean {
  return value instanceof Undefined || (value instanceof TemplateObject && value.callable);
}

export const predicates: ReadonlyMap<string, Builtin> = new Map<string, Builtin>([
  unary("defined", (value) => !(value instanceof Undefined)),
  unary("undefined", (value) => value instanceof Undefined),
  unary("none", (value) => value === null),
  unary("boolean", (value) => typeof value === "boolean"),
  unary("true", (value) => value === true),
  unary("false", (value) => value === false),
  unary("integer", (value) => typeof value === "bigint"),
  unary("float", (value) => typeof value === "number"),
  unary("number", (value) => asNumber(value) !== null),
  unary("string", isText),
  unary("mapping", (value) => value instanceof Dict),
  unary("sequence", isSequence),
  unary("iterable", isIterable),
  unary("callable", isCallable),
  unary("escaped", (value) => value instanceof MarkedText && value.safe),
  unary("filter", (value) => isText(value) && (filters.has(plainText(value)) || plainText(value) === "random" || plainText(value) === "urlize")),
  unary("test", (value) => isText(value) && predicates.has(plainText(value))),
  cased("lower", isLower),
  cased("upper", isUpper),
  remainder("odd", 1n),
  remainder("even", 0n),
  ["divisibleby", divisibleBy],
  ["in", within],
  ["sameas", sameAs],
  ...equality(["eq", "==", "equalto"], true),
  ...equality(["ne", "!="], false),
  ...ordered(["gt", ">", "greaterthan"], ">"),
  ...ordered(["ge", ">="], ">="),
  ...ordered(["lt", "<", "lessthan"], "<"),
  ...ordered(["le", "<="], "<="),
]);
