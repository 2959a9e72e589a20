/** Step names: one portable folder name each, unique on file systems that ignore case or normalise Unicode. */

import { pythonStrip } from "./lax-values.ts";

const encoder = new TextEncoder();

/** A phrase that says what is wrong with the name, or null. */
export function stepNameProblem(name: string): string | null {
  // Python's IGNORECASE lets the dotted and dotless i stand for I.
  const device = /^(?:con|prn|aux|nul|con[iIİı]n\$|conout\$|(?:com|lpt)[1-9¹²³])$/i;
  if (pythonStrip(name) === "" || name === "." || name === "..") return "is no folder name";
  if (name.endsWith(".") || name.endsWith(" ")) return "ends with a dot or a space, which Windows drops";
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
  if (/[<>:"/\\|?*\x00-\x1f\x7f]/.test(name)) return "has a character that a folder name cannot have everywhere";
  const [stem = ""] = name.split(".", 1);
  if (device.test(stem.replace(/ +$/, ""))) return "is a Windows device name";
  return encoder.encode(name).length > 255 ? "is longer than 255 bytes" : null;
}

/** Equal for names that collide. Lower, upper, lower case, code point by code point, is full case folding; only the dotless i keeps to itself. */
export function stepNameKey(name: string): string {
  return [...name.normalize("NFC")]
    .map((character) => (character === "ı" ? character : character.toLowerCase().toUpperCase().toLowerCase()))
    .join("");
}
