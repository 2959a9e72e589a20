/**
 * JSON, indented for reading. It scans and never parses: numbers, escapes and key order stay as they were sent, and a text that
 * is cut off or malformed is still laid out as far as it goes. Linear in the length of the text.
 */
const indentation = "  ";
const isSpace = (code: number): boolean => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;

/** Where a string that begins at `from` ends (after its quote), or the end of the text. */
function endOfString(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x5c) at += 1;
    else if (code === 0x22) return at + 1;
  }
  return text.length;
}

function endOfSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && isSpace(text.charCodeAt(at))) at += 1;
  return at;
}

const closing: Readonly<Record<string, string>> = { "{": "}", "[": "]" };

export function formatJson(text: string): string {
  const parts: string[] = [];
  let depth = 0;
  let at = 0;
  const newLine = (): void => void parts.push("\n", indentation.repeat(depth));
  while (at < text.length) {
    const character = text[at] ?? "";
    const close = closing[character];
    if (isSpace(text.charCodeAt(at))) at = endOfSpace(text, at);
    else if (character === '"') {
      const end = endOfString(text, at);
      parts.push(text.slice(at, end));
      at = end;
    } else if (close !== undefined) {
      const next = endOfSpace(text, at + 1);
      if (text[next] === close) {
        parts.push(character, close);
        at = next + 1;
      } else {
        depth += 1;
        parts.push(character);
        newLine();
        at += 1;
      }
    } else if (character === "}" || character === "]") {
      depth = Math.max(0, depth - 1);
      newLine();
      parts.push(character);
      at += 1;
    } else if (character === ",") {
      parts.push(",");
      newLine();
      at += 1;
    } else {
      parts.push(character === ":" ? ": " : character);
      at += 1;
    }
  }
  return parts.join("");
}

/** Whether a body looks like JSON at all: an object or a list. */
export const looksLikeJson = (text: string): boolean => /^\s*[{[]/.test(text);
