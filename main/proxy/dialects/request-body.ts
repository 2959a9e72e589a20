/**
 * A JSON request body with its top-level members as written. `value` is what JSON.parse gives and serves everything that is
 * checked and compared; fields that are kept as text (tool schemas, unknown fields) come from `raw`, so that key order and
 * number spelling survive.
 */

export interface RequestBody {
  readonly text: string;
  readonly value: unknown;
  /** Text of each top-level member, as written; a repeated key has its last value. */
  readonly raw: ReadonlyMap<string, string>;
}

/** Throws SyntaxError when the text is no JSON. */
export function readRequestBody(text: string): RequestBody {
  return { text, value: JSON.parse(text), raw: topLevelMembers(text) };
}

/** Members that are not in `known`, as the text of one JSON object. */
export function otherMembers(body: RequestBody, known: ReadonlySet<string>): string {
  const parts: string[] = [];
  for (const [key, text] of body.raw) if (!known.has(key)) parts.push(`${JSON.stringify(key)}:${text}`);
  return `{${parts.join(",")}}`;
}

/** `text` is valid JSON. Skips strings by searching for their end, so that long texts cost little. */
function topLevelMembers(text: string): ReadonlyMap<string, string> {
  const members = new Map<string, string>();
  let position = skipSpace(text, 0);
  if (text[position] !== "{") return members;
  position = skipSpace(text, position + 1);
  while (text[position] === '"') {
    const keyEnd = stringEnd(text, position);
    const key: unknown = JSON.parse(text.slice(position, keyEnd));
    const start = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const end = valueEnd(text, start);
    members.set(String(key), text.slice(start, end).trimEnd());
    position = skipSpace(text, end);
    if (text[position] === ",") position = skipSpace(text, position + 1);
  }
  return members;
}

function skipSpace(text: string, from: number): number {
  let position = from;
  while (text.charCodeAt(position) <= 0x20) position += 1;
  return position;
}

/** Position after the string that starts at `start`. */
function stringEnd(text: string, start: number): number {
  let position = start + 1;
  for (;;) {
    const quote = text.indexOf('"', position);
    let backslashes = 0;
    while (text.charCodeAt(quote - 1 - backslashes) === 0x5c) backslashes += 1;
    if (backslashes % 2 === 0) return quote + 1;
    position = quote + 1;
  }
}

/** Position of the comma or bracket that ends the value at `start`. */
function valueEnd(text: string, start: number): number {
  let depth = 0;
  let position = start;
  for (;;) {
    const code = text.charCodeAt(position);
    if (code === 0x22) {
      position = stringEnd(text, position);
      continue;
    }
    if (code === 0x7b || code === 0x5b) depth += 1;
    else if (code === 0x7d || code === 0x5d) {
      if (depth === 0) return position;
      depth -= 1;
    } else if (code === 0x2c && depth === 0) return position;
    else if (Number.isNaN(code)) return position;
    position += 1;
  }
}
