/** Numbers as text with a given precision, rounded as Python does: the exact binary value, half to even. */
import { TemplateError } from "../template-error.ts";

/** Digits after the point beyond this are refused. */
const maxPrecision = 1000;

/** |value| as an exact fraction. */
function exactFraction(value: number): { numerator: bigint; denominator: bigint } {
  let mantissa = Math.abs(value);
  let exponent = 0;
  while (!Number.isInteger(mantissa)) {
    mantissa *= 2;
    exponent++;
  }
  return { numerator: BigInt(mantissa), denominator: 1n << BigInt(exponent) };
}

function divideHalfEven(numerator: bigint, denominator: bigint): bigint {
  const quotient = numerator / denominator;
  const twice = (numerator % denominator) * 2n;
  const up = twice > denominator || (twice === denominator && quotient % 2n === 1n);
  return up ? quotient + 1n : quotient;
}

/** |value| × 10^digits, rounded to an integer. */
function scaled(value: number, digits: number): bigint {
  const { numerator, denominator } = exactFraction(value);
  return digits >= 0
    ? divideHalfEven(numerator * 10n ** BigInt(digits), denominator)
    : divideHalfEven(numerator, denominator * 10n ** BigInt(-digits));
}

function nonFinite(value: number): string | null {
  if (Number.isNaN(value)) return "nan";
  return Number.isFinite(value) ? null : "inf";
}

/** `%f`: |value| with so many digits after the point. */
function fixed(value: number, precision: number): string {
  const digits = scaled(value, precision)
    .toString()
    .padStart(precision + 1, "0");
  return precision === 0 ? digits : `${digits.slice(0, -precision)}.${digits.slice(-precision)}`;
}

/** Significant digits and decimal exponent of |value|, rounded to `count` digits. */
function significant(value: number, count: number): { digits: string; exponent: number } {
  if (value === 0) return { digits: "0".repeat(count), exponent: 0 };
  let exponent = Number(Math.abs(value).toExponential().split("e")[1]);
  let digits = scaled(value, count - 1 - exponent).toString();
  if (digits.length > count) {
    exponent++;
    digits = digits.slice(0, count);
  }
  return { digits, exponent };
}

function exponentText(exponent: number): string {
  return `e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
}

function scientific(value: number, precision: number): string {
  const { digits, exponent } = significant(value, precision + 1);
  return `${digits[0]}${precision === 0 ? "" : `.${digits.slice(1)}`}${exponentText(exponent)}`;
}

function general(value: number, precision: number, keepZeros: boolean): string {
  const count = Math.max(1, precision);
  const { digits, exponent } = significant(value, count);
  if (exponent < -4 || exponent >= count) {
    const fraction = keepZeros ? digits.slice(1) : digits.slice(1).replace(/0+$/, "");
    return `${digits[0]}${fraction === "" ? "" : `.${fraction}`}${exponentText(exponent)}`;
  }
  const text = exponent < 0 ? `0.${"0".repeat(-exponent - 1)}${digits}` : `${digits.slice(0, exponent + 1)}.${digits.slice(exponent + 1)}`;
  return keepZeros ? text : text.replace(/\.?0*$/, "");
}

/** |value| in one of Python's float presentations: f F e E g G. */
export function formatFloat(value: number, kind: string, precision: number, alternate = false): string {
  if (precision > maxPrecision) throw new TemplateError("LimitError", `a precision of more than ${maxPrecision} digits`);
  const lower = kind.toLowerCase();
  const text =
    nonFinite(value) ??
    (lower === "f" ? fixed(value, precision) : lower === "e" ? scientific(value, precision) : general(value, precision, alternate));
  return kind === lower ? text : text.toUpperCase();
}

/** Python's `round(x, digits)` of a float. */
export function roundFloat(value: number, digits: number): number {
  if (!Number.isFinite(value) || value === 0 || digits > 400) return value;
  if (digits < -310) return value < 0 ? -0 : 0;
  const magnitude = digits >= 0 ? Number(`${scaled(value, digits)}e${-digits}`) : Number(scaled(value, digits) * 10n ** BigInt(-digits));
  if (!Number.isFinite(magnitude)) throw new TemplateError("OverflowError", "rounded value too large to represent");
  return value < 0 ? -magnitude : magnitude;
}

/** Python's `round(n, digits)` of an int. */
export function roundInteger(value: bigint, digits: number): bigint {
  if (digits >= 0) return value;
  if (digits < -maxPrecision) return 0n;
  const unit = 10n ** BigInt(-digits);
  const magnitude = divideHalfEven(value < 0n ? -value : value, unit) * unit;
  return value < 0n ? -magnitude : magnitude;
}

/** The integer that `int(x)` gives: towards zero. */
export function truncated(value: number): bigint {
  if (Number.isNaN(value)) throw new TemplateError("ValueError", "cannot convert float NaN to integer");
  if (!Number.isFinite(value)) throw new TemplateError("OverflowError", "cannot convert float infinity to integer");
  return BigInt(Math.trunc(value));
}
