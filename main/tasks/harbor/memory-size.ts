/** Sizes of the old `memory` and `storage` keys: `2G`, `512m`, `2097152K`. */
import { pythonStrip } from "./lax-values.ts";

/** Whole megabytes, or null when the text is no size. */
export function sizeInMegabytes(text: string): number | null {
  const source = pythonStrip(text).toUpperCase();
  const value = pythonFloat(source.slice(0, -1));
  if (value === null || !Number.isFinite(value)) return null;
  const unit = source.at(-1);
  const factor = unit === "G" ? 1024 : unit === "M" ? 1 : unit === "K" ? 1 / 1024 : null;
  return factor === null || !Number.isFinite(value * factor) ? null : Math.trunc(value * factor) + 0;
}

/** `float()` of Python: digits of any script, single underscores between digits. */
function pythonFloat(text: string): number | null {
  const ascii = [...pythonStrip(text)].map((character) => (/\p{Nd}/u.test(character) ? String(digitValue(character)) : character)).join("");
  if (!/^[+-]?(?:\d+(?:_\d+)*\.?(?:\d+(?:_\d+)*)?|\.\d+(?:_\d+)*)(?:[eE][+-]?\d+(?:_\d+)*)?$/.test(ascii)) return null;
  return Number(ascii.replaceAll("_", ""));
}

/** Decimal digits of a script stand in runs of ten. */
function digitValue(character: string): number {
  const code = character.codePointAt(0) ?? 0;
  let start = code;
  while (start > code - 9 && /\p{Nd}/u.test(String.fromCodePoint(start - 1))) start -= 1;
  return (code - start) % 10;
}
