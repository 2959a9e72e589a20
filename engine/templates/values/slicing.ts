/** Python's slices of texts and lists. */

import { asIndex } from "../builtins/signature.ts";
import { TemplateError } from "../template-error.ts";
import type { Effort } from "./limits.ts";
import { characters, concatTexts, isText, plainText, sliceText, type Text, textLength, unitOffset } from "./text.ts";
import { isList, Range, Tuple, type Value } from "./values.ts";

interface Bounds {
  readonly start: number;
  readonly stop: number;
  readonly step: number;
}

function bounds(length: number, start: Value, stop: Value, step: Value): Bounds {
  const by = step === null ? 1 : asIndex(step);
  if (by === 0) throw new TemplateError("ValueError", "slice step cannot be zero");
  const [low, high] = by > 0 ? [0, length] : [-1, length - 1];
  const clamp = (value: Value, fallback: number): number => {
    if (value === null) return fallback;
    const index = asIndex(value);
    return Math.max(low, Math.min(high, index < 0 ? index + length : index));
  };
  return { start: clamp(start, by > 0 ? low : high), stop: clamp(stop, by > 0 ? high : low), step: by };
}

function pick<T>(items: readonly T[], { start, stop, step }: Bounds): T[] {
  if (step === 1) return items.slice(start, stop);
  const result: T[] = [];
  for (let index = start; step > 0 ? index < stop : index > stop; index += step) {
    const item = items[index];
    if (item !== undefined) result.push(item);
  }
  return result;
}

function sliceOfText(text: Text, start: Value, stop: Value, step: Value): Text {
  const plain = plainText(text);
  const range = bounds(textLength(text), start, stop, step);
  if (range.step === 1) return sliceText(text, unitOffset(plain, range.start), unitOffset(plain, Math.max(range.start, range.stop)));
  return concatTexts(pick(characters(text), range));
}

/** `value[start:stop:step]`; null for a bound left out, undefined for what cannot be sliced. */
export function sliceOf(value: Value, start: Value, stop: Value, step: Value, effort: Effort): Value | undefined {
  if (isText(value)) {
    effort.spendText(plainText(value).length);
    return sliceOfText(value, start, stop, step);
  }
  if (isList(value)) {
    effort.spend(value.length >> 2);
    return pick(value, bounds(value.length, start, stop, step));
  }
  if (value instanceof Tuple) return new Tuple(pick(value.items, bounds(value.items.length, start, stop, step)));
  if (value instanceof Range) {
    const range = bounds(value.length, start, stop, step);
    return new Range(value.at(range.start), value.at(range.stop), value.step * BigInt(range.step));
  }
  return undefined;
}

/** `items[index]` with Python's negative indexes; undefined when outside. */
export function itemAt<T>(items: ArrayLike<T>, index: bigint | boolean): T | undefined {
  const place = asIndex(index);
  return items[place < 0 ? place + items.length : place];
}

/** One code point of a text; undefined when outside. */
export function characterAt(text: Text, index: bigint | boolean): Text | undefined {
  const length = textLength(text);
  const place = asIndex(index) < 0 ? asIndex(index) + length : asIndex(index);
  if (place < 0 || place >= length) return undefined;
  const plain = plainText(text);
  return sliceText(text, unitOffset(plain, place), unitOffset(plain, place + 1));
}

/** Whether a value can stand in brackets as a place. */
export function isPlace(value: Value): value is bigint | boolean {
  return typeof value === "bigint" || typeof value === "boolean";
}
