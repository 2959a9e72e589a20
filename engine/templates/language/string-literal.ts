/** Escapes of a string in a template, as jinja2 reads them: Python's, where an unknown escape keeps its backslash. */
import { codePointEscape } from "../values/printing.ts";

const simple: Readonly<Record<string, string>> = {
  "\\": "\\",
  "'": "'",
  '"': '"',
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  "\n": "",
};
const hexDigits: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

/** `inside` is what stands between the quotes. */
export function readStringLiteral(inside: string, fail: (problem: string) => never): string {
  return inside.replace(/\\(?:([0-7]{1,3})|([xuU])([0-9a-fA-F]*)|(.))/gsu, (whole, octal?: string, letter?: string, hex = "", other = "") => {
    if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8));
    if (letter !== undefined) return hexEscape(letter, hex, fail);
    if (other > "\x7f") return codePointEscape(other.codePointAt(0) ?? 0);
    if (other === "N") return fail("named characters (\\N{…}) are not supported in templates");
    return simple[other] ?? whole;
  });
}

function hexEscape(letter: string, hex: string, fail: (problem: string) => never): string {
  const digits = hexDigits[letter] ?? 0;
  if (hex.length < digits) return fail(`truncated \\${letter}${letter === "x" ? "XX" : "X".repeat(digits)} escape`);
  const point = Number.parseInt(hex.slice(0, digits), 16);
  if (point > 0x10ffff) return fail("illegal Unicode character");
  return String.fromCodePoint(point) + hex.slice(digits);
}
