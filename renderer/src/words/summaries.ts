/** The one line of a call in words: which tool was called with what, or what was said. */
export interface CallWords {
  /** Tool name, or `text`, `error`, `–`. Drawn in mono. */
  readonly head: string;
  readonly rest: string;
}

const firstString = /^\{\s*"(?:[^"\\]|\\.)*"\s*:\s*"((?:[^"\\]|\\.)*)/;

function unescaped(text: string): string {
  try {
    return JSON.parse(`"${text.replace(/\\$/, "")}"`) as string;
  } catch {
    return text;
  }
}

/** Arguments for reading: the value of a single text argument (a command), else the JSON itself. Works on a JSON text that was cut. */
export function argumentWords(argumentsText: string): string {
  const match = firstString.exec(argumentsText);
  const value = match?.[1];
  return (value === undefined ? argumentsText : unescaped(value)).replace(/\s+/g, " ").trim();
}

/** The one argument of a tool call when it has just one and that is text; null otherwise. */
export function singleArgument(argumentsText: string): { readonly name: string; readonly text: string } | null {
  if (!argumentsText.trimStart().startsWith("{")) return null;
  try {
    const entries = Object.entries(JSON.parse(argumentsText) as object);
    const [name, text] = entries[0] ?? [];
    return entries.length === 1 && name !== undefined && typeof text === "string" ? { name, text } : null;
  } catch {
    // Not JSON, or cut off: shown as it is.
    return null;
  }
}

/** `summary` is a tool's name and its JSON arguments, the beginning of a text, or an error's sentence. */
export function callWords(call: { readonly summary: string; readonly error: string | null }): CallWords {
  if (call.error !== null) return { head: "error", rest: call.error };
  const match = /^([\w.:-]+) ([[{"].*)$/s.exec(call.summary);
  if (match?.[1] !== undefined && match[2] !== undefined) return { head: match[1], rest: argumentWords(match[2]) };
  return call.summary === "" ? { head: "–", rest: "no answer" } : { head: "text", rest: call.summary };
}
