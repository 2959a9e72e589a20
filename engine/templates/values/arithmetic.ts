/** Python's arithmetic, and what `+`, `*` and `%` do to texts and lists. */

import { TemplateError } from "../template-error.ts";
import { asNumber, type PythonNumber } from "./comparison.ts";
import type { Effort } from "./limits.ts";
import { formatPercent } from "./percent-format.ts";
import { concatSafely } from "./safe-text.ts";
import { concatTexts, isText, markCount, plainText, type Text } from "./text.ts";
import { isList, Tuple, typeName, Undefined, type Value } from "./values.ts";

export type ArithmeticOperator = "+" | "-" | "*" | "/" | "//" | "%" | "**";

export function arithmetic(left: Value, operator: ArithmeticOperator, right: Value, effort: Effort): Value {
  if (left instanceof Undefined) left.fail();
  if (operator === "%" && isText(left)) return formatPercent(left, right, effort);
  if (right instanceof Undefined) right.fail();
  const [a, b] = [asNumber(left), asNumber(right)];
  if (a !== null && b !== null) return numeric(a, operator, b, effort);
  if (operator === "+") return added(left, right, effort);
  if (operator === "*") return repeated(left, right, effort);
  throw unsupported(operator, left, right);
}

function unsupported(operator: string, left: Value, right: Value): TemplateError {
  const name = operator === "**" ? "** or pow()" : operator;
  return new TemplateError("TypeError", `unsupported operand type(s) for ${name}: '${typeName(left)}' and '${typeName(right)}'`);
}

function added(left: Value, right: Value, effort: Effort): Value {
  if (isText(left)) {
    if (!isText(right)) throw new TemplateError("TypeError", `can only concatenate str (not "${typeName(right)}") to str`);
    effort.spendText(plainText(left).length + plainText(right).length);
    effort.spend((markCount(left) + markCount(right)) >> 2);
    return concatSafely(left, right);
  }
  if (isList(left)) {
    if (!isList(right)) throw new TemplateError("TypeError", `can only concatenate list (not "${typeName(right)}") to list`);
    effort.spend(left.length + right.length);
    return [...left, ...right];
  }
  if (left instanceof Tuple) {
    if (!(right instanceof Tuple)) throw new TemplateError("TypeError", `can only concatenate tuple (not "${typeName(right)}") to tuple`);
    effort.spend(left.items.length + right.items.length);
    return new Tuple([...left.items, ...right.items]);
  }
  throw unsupported("+", left, right);
}

function repeated(left: Value, right: Value, effort: Effort): Value {
  const [sequence, times] = asNumber(left) === null ? [left, right] : [right, left];
  const count = asNumber(times);
  if (typeof count === "bigint") {
    const repeats = count < 0n ? 0 : Number(count);
    if (isText(sequence)) return repeatText(sequence, repeats, effort);
    if (isList(sequence)) return repeatItems(sequence, repeats, effort);
    if (sequence instanceof Tuple) return new Tuple(repeatItems(sequence.items, repeats, effort));
  } else if (isText(sequence) || isList(sequence) || sequence instanceof Tuple) {
    throw new TemplateError("TypeError", `can't multiply sequence by non-int of type '${typeName(times)}'`);
  }
  throw unsupported("*", left, right);
}

function repeatText(text: Text, times: number, effort: Effort): Text {
  effort.spendText(plainText(text).length * times);
  if (typeof text === "string") return text.repeat(times);
  effort.spend(times);
  return concatTexts(Array.from({ length: times }, () => text));
}

function repeatItems(items: readonly Value[], times: number, effort: Effort): readonly Value[] {
  effort.spend(items.length * times);
  return Array.from({ length: times }, () => items).flat() as readonly Value[];
}

/** Results of this many bits or more are refused: they would take for ever. */
const maxBits = 100_000;

function numeric(left: PythonNumber, operator: ArithmeticOperator, right: PythonNumber, effort: Effort): Value {
  if (typeof left === "bigint" && typeof right === "bigint") return integers(left, operator, right, effort);
  const [a, b] = [toFloat(left), toFloat(right)];
  switch (operator) {
    case "+":
      return a + b;
    case "-":
      return a - b;
    case "*":
      return a * b;
    case "/":
      if (b === 0) throw new TemplateError("ZeroDivisionError", "division by zero");
      return a / b;
    case "//":
      if (b === 0) throw new TemplateError("ZeroDivisionError", "float floor division by zero");
      return floorDivide(a, b);
    case "%":
      if (b === 0) throw new TemplateError("ZeroDivisionError", "float modulo by zero");
      return floatModulo(a, b);
    case "**":
      return floatPower(a, b);
  }
}

/** Throws OverflowError for an int beyond the range of floats. */
function toFloat(value: PythonNumber): number {
  const result = Number(value);
  if (typeof value === "bigint" && !Number.isFinite(result)) throw new TemplateError("OverflowError", "int too large to convert to float");
  return result;
}

function floatModulo(a: number, b: number): number {
  const remainder = a % b;
  if (remainder === 0) return b < 0 ? -0 : 0;
  return remainder < 0 !== b < 0 ? remainder + b : remainder;
}

function floorDivide(a: number, b: number): number {
  const remainder = a % b;
  const exact = (a - remainder) / b - (remainder !== 0 && remainder < 0 !== b < 0 ? 1 : 0);
  if (exact === 0) return a / b < 0 || Object.is(a / b, -0) ? -0 : 0;
  const floored = Math.floor(exact);
  return exact - floored > 0.5 ? floored + 1 : floored;
}

function floatPower(a: number, b: number): Value {
  if (a === 0 && b < 0) throw new TemplateError("ZeroDivisionError", "zero to a negative power");
  if (a < 0 && Number.isFinite(b) && !Number.isInteger(b)) throw new TemplateError("TypeError", "complex numbers are not supported here");
  const result = a === 1 || b === 0 ? 1 : a ** b;
  if (!Number.isFinite(result) && Number.isFinite(a) && Number.isFinite(b))
    throw new TemplateError("OverflowError", "(34, 'Numerical result out of range')");
  return result;
}

function bitLength(value: bigint): number {
  return (value < 0n ? -value : value).toString(16).length * 4;
}

function integers(left: bigint, operator: ArithmeticOperator, right: bigint, effort: Effort): Value {
  switch (operator) {
    case "+":
      return left + right;
    case "-":
      return left - right;
    case "*":
      limitBits(bitLength(left) + bitLength(right));
      return left * right;
    case "/":
      return divideIntegers(left, right);
    case "//":
      if (right === 0n) throw new TemplateError("ZeroDivisionError", "integer division or modulo by zero");
      return (left - integerModulo(left, right)) / right;
    case "%":
      if (right === 0n) throw new TemplateError("ZeroDivisionError", "integer modulo by zero");
      return integerModulo(left, right);
    case "**":
      if (right < 0n) return floatPower(toFloat(left), toFloat(right));
      limitBits(bitLength(left) * Number(right));
      effort.spend(Number(right) >> 4);
      return left ** right;
  }
}

function limitBits(bits: number): void {
  if (bits > maxBits) throw new TemplateError("LimitError", "the template makes an integer of more than 30,000 digits");
}

function integerModulo(left: bigint, right: bigint): bigint {
  const remainder = left % right;
  return remainder !== 0n && remainder < 0n !== right < 0n ? remainder + right : remainder;
}

function divideIntegers(left: bigint, right: bigint): number {
  if (right === 0n) throw new TemplateError("ZeroDivisionError", "division by zero");
  const [a, b] = [Number(left), Number(right)];
  if (Number.isSafeInteger(a) && Number.isSafeInteger(b)) return a / b;
  return quotientOfLargeIntegers(left, right);
}

/** Correctly rounded quotient: scaled so that the integer quotient has 64 to 66 bits, with a sticky last bit. */
function quotientOfLargeIntegers(left: bigint, right: bigint): number {
  const negative = left < 0n !== right < 0n;
  const [a, b] = [left < 0n ? -left : left, right < 0n ? -right : right];
  const shift = 66 - (a.toString(2).length - b.toString(2).length);
  const [numerator, denominator] = shift >= 0 ? [a << BigInt(shift), b] : [a, b << BigInt(-shift)];
  const quotient = (numerator / denominator) | (numerator % denominator === 0n ? 0n : 1n);
  const result = Number(quotient) * 2 ** -shift;
  if (!Number.isFinite(result)) throw new TemplateError("OverflowError", "integer division result too large for a float");
  return negative ? -result : result;
}

export function negated(value: Value): Value {
  if (value instanceof Undefined) value.fail();
  const number = asNumber(value);
  if (number === null) throw new TemplateError("TypeError", `bad operand type for unary -: '${typeName(value)}'`);
  return -number;
}

export function positive(value: Value): Value {
  if (value instanceof Undefined) value.fail();
  const number = asNumber(value);
  if (number === null) throw new TemplateError("TypeError", `bad operand type for unary +: '${typeName(value)}'`);
  return number;
}
