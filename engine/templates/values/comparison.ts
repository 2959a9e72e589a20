/** Python's equality, order and membership. */
import { compareByCodePoint } from "../../json/index.ts";
import { TemplateError } from "../template-error.ts";
import type { Effort } from "./limits.ts";
import { isText, plainText, type Text } from "./text.ts";
import { Dict, DictView, isIterable, isList, iterate, Range, Tuple, typeName, Undefined, type Value } from "./values.ts";

export type PythonNumber = bigint | number;

/** An int, a float, or a bool as the int that it is; null for anything else. */
export function asNumber(value: Value): PythonNumber | null {
  if (typeof value === "bigint" || typeof value === "number") return value;
  if (typeof value === "boolean") return value ? 1n : 0n;
  return null;
}

function numbersEqual(left: PythonNumber, right: PythonNumber): boolean {
  if (typeof left === typeof right) return left === right;
  const [integer, float] = typeof left === "bigint" ? [left, Number(right)] : [BigInt(right), left];
  return Number.isInteger(float) && BigInt(float) === integer;
}

export function equal(left: Value, right: Value, effort: Effort): boolean {
  effort.spend();
  if (left === right) return true;
  if (isText(left)) return isText(right) && textsEqual(left, right, effort);
  const leftNumber = asNumber(left);
  if (leftNumber !== null) {
    const rightNumber = asNumber(right);
    return rightNumber !== null && numbersEqual(leftNumber, rightNumber);
  }
  if (isList(left)) return isList(right) && itemsEqual(left, right, effort);
  if (left instanceof Tuple) return right instanceof Tuple && itemsEqual(left.items, right.items, effort);
  if (left instanceof Dict) return right instanceof Dict && dictsEqual(left, right, effort);
  if (left instanceof Undefined) return right instanceof Undefined;
  if (left instanceof Range) return right instanceof Range && itemsEqual([...left], [...right], effort);
  if (left instanceof DictView && right instanceof DictView) return viewsEqual(left, right, effort);
  return false;
}

function textsEqual(left: Text, right: Text, effort: Effort): boolean {
  const [a, b] = [plainText(left), plainText(right)];
  if (a.length !== b.length) return false;
  effort.spend(a.length >> 10);
  return a === b;
}

function itemsEqual(left: readonly Value[], right: readonly Value[], effort: Effort): boolean {
  return left.length === right.length && left.every((item, index) => equal(item, right[index] ?? null, effort));
}

function dictsEqual(left: Dict, right: Dict, effort: Effort): boolean {
  if (left.size !== right.size) return false;
  for (const [key, item] of left.items()) {
    const other = right.get(key);
    if (other === undefined || !equal(item, other, effort)) return false;
  }
  return true;
}

function viewsEqual(left: DictView, right: DictView, effort: Effort): boolean {
  if (left.kind === "dict_values" || right.kind === "dict_values" || left.dict.size !== right.dict.size) return false;
  const others = [...right];
  return [...left].every((item) => others.some((other) => equal(item, other, effort)));
}

export type OrderOperator = "<" | "<=" | ">" | ">=";

/** Negative, zero or positive, as Python orders the two; NaN where neither is before the other. Throws TypeError. */
export function orderOf(left: Value, right: Value, operator: OrderOperator, effort: Effort): number {
  effort.spend();
  if (isText(left) && isText(right)) return compareByCodePoint(plainText(left), plainText(right));
  const [a, b] = [asNumber(left), asNumber(right)];
  if (a !== null && b !== null) return a < b ? -1 : a > b ? 1 : numbersEqual(a, b) ? 0 : Number.NaN;
  if (isList(left) && isList(right)) return orderOfItems(left, right, operator, effort);
  if (left instanceof Tuple && right instanceof Tuple) return orderOfItems(left.items, right.items, operator, effort);
  if (left instanceof Undefined) left.fail();
  if (right instanceof Undefined) right.fail();
  throw new TemplateError("TypeError", `'${operator}' not supported between instances of '${typeName(left)}' and '${typeName(right)}'`);
}

function orderOfItems(left: readonly Value[], right: readonly Value[], operator: OrderOperator, effort: Effort): number {
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index++) {
    const [a, b] = [left[index] ?? null, right[index] ?? null];
    if (!equal(a, b, effort)) return orderOf(a, b, operator, effort);
  }
  return left.length - right.length;
}

export function compare(left: Value, operator: OrderOperator, right: Value, effort: Effort): boolean {
  const order = orderOf(left, right, operator, effort);
  switch (operator) {
    case "<":
      return order < 0;
    case "<=":
      return order <= 0;
    case ">":
      return order > 0;
    case ">=":
      return order >= 0;
  }
}

/** `item in container`. */
export function contains(container: Value, item: Value, effort: Effort): boolean {
  if (isText(container)) {
    if (!isText(item)) throw new TemplateError("TypeError", `'in <string>' requires string as left operand, not ${typeName(item)}`);
    effort.spend(plainText(container).length >> 8);
    return plainText(container).includes(plainText(item));
  }
  if (container instanceof Dict) return container.has(item);
  if (container instanceof DictView && container.kind === "dict_keys") return container.dict.has(item);
  if (!isIterable(container)) throw new TemplateError("TypeError", `argument of type '${typeName(container)}' is not iterable`);
  for (const candidate of iterate(container)) if (equal(candidate, item, effort)) return true;
  return false;
}
