/** Colours of one line of JSON. Works on a line alone: a string that was cut over lines loses its colour, nothing else. */
export interface Coloured {
  readonly kind: "key" | "string" | "number" | "word" | "plain";
  readonly text: string;
}

const pattern = /("(?:[^"\\]|\\.)*"?)(\s*:)?|(-?\d[\d.eE+-]*)|\b(true|false|null)\b/g;

export function highlightJson(line: string): readonly Coloured[] {
  const found: Coloured[] = [];
  let at = 0;
  const plain = (to: number): void => {
    if (to > at) found.push({ kind: "plain", text: line.slice(at, to) });
  };
  for (const match of line.matchAll(pattern)) {
    const [whole, string, colon, number] = match;
    plain(match.index);
    if (string !== undefined) {
      found.push({ kind: colon === undefined ? "string" : "key", text: string });
      if (colon !== undefined) found.push({ kind: "plain", text: colon });
    } else found.push({ kind: number === undefined ? "word" : "number", text: whole });
    at = match.index + whole.length;
  }
  plain(line.length);
  return found;
}
