/** How far a text goes as JSON: whole, still open when the text ends, or not JSON. */

export type JsonScan =
  | { readonly state: "whole"; readonly end: number }
  /** Everything up to the end of the text is the beginning of a JSON value. */
  | { readonly state: "open" }
  /** `at`: the first character that cannot belong to JSON. */
  | { readonly state: "broken"; readonly at: number };

type Expected = "value" | "value or close" | "key" | "key or close" | "colon" | "comma or close";

const plainCharacters = /[ !#-[\]-\uffff]*/y;
const scalar = /(?:true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)(?![\w.+-])/y;
const begunScalar = /^(?:t|tr|tru|f|fa|fal|fals|n|nu|nul|-|-?(?:0|[1-9][0-9]*)(?:\.[0-9]*)?(?:[eE][+-]?[0-9]*)?)$/;
const scalarCharacters = /[\w.+-]*/y;

/** Scans the object or array that begins at `start`. Strict: no comments, no trailing commas, no control characters in strings. */
export function scanJson(text: string, start: number): JsonScan {
  const closers: string[] = [];
  let expected: Expected = "value";
  let at = start;
  for (;;) {
    at = skipJsonSpace(text, at);
    const character = text[at];
    if (character === undefined) return { state: "open" };
    if ((character === "}" || character === "]") && character === closers.at(-1) && mayClose(expected)) {
      closers.pop();
      at++;
      if (closers.length === 0) return { state: "whole", end: at };
      expected = "comma or close";
    } else if (expected === "comma or close" || expected === "colon") {
      if (character !== (expected === "colon" ? ":" : ",")) return { state: "broken", at };
      at++;
      expected = expected === "colon" || closers.at(-1) === "]" ? "value" : "key";
    } else if (expected === "key" || expected === "key or close") {
      const scanned = scanString(text, at);
      if (scanned.state !== "whole") return scanned;
      at = scanned.end;
      expected = "colon";
    } else if (character === "{" || character === "[") {
      closers.push(character === "{" ? "}" : "]");
      at++;
      expected = character === "{" ? "key or close" : "value or close";
    } else {
      const scanned = character === '"' ? scanString(text, at) : scanScalar(text, at);
      if (scanned.state !== "whole") return scanned;
      at = scanned.end;
      expected = "comma or close";
    }
  }
}

function mayClose(expected: Expected): boolean {
  return expected === "comma or close" || expected === "key or close" || expected === "value or close";
}

function skipJsonSpace(text: string, start: number): number {
  let at = start;
  while (at < text.length && " \n\r\t".includes(text.charAt(at))) at++;
  return at;
}

function scanScalar(text: string, start: number): JsonScan {
  scalarCharacters.lastIndex = start;
  const written = scalarCharacters.exec(text)?.[0] ?? "";
  if (start + written.length === text.length && begunScalar.test(written)) return { state: "open" };
  scalar.lastIndex = start;
  const match = scalar.exec(text);
  if (match === null) return { state: "broken", at: start };
  return start + match[0].length === text.length ? { state: "open" } : { state: "whole", end: start + match[0].length };
}

function scanString(text: string, start: number): JsonScan {
  if (text[start] !== '"') return { state: "broken", at: start };
  let at = start + 1;
  for (;;) {
    plainCharacters.lastIndex = at;
    plainCharacters.test(text);
    at = plainCharacters.lastIndex;
    const character = text[at];
    if (character === undefined) return { state: "open" };
    if (character === '"') return { state: "whole", end: at + 1 };
    if (character !== "\\") return { state: "broken", at };
    const written = text.slice(at, at + 6);
    if (/^\\u[0-9a-fA-F]{4}$/.test(written)) at += 6;
    else if (/^\\["\\/bfnrt]/.test(written)) at += 2;
    else if (at + written.length === text.length && /^\\(?:u[0-9a-fA-F]{0,3})?$/.test(written)) return { state: "open" };
    else return { state: "broken", at };
  }
}
