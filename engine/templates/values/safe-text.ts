/** HTML escapes and text declared safe from them (`safe`, `escape`). Nothing is escaped unasked: chat templates are no HTML. */
import { concatTexts, MarkedText, plainText, type Text, transformText } from "./text.ts";

/** `+` of two texts: safe text escapes what is joined to it. */
export function concatSafely(left: Text, right: Text): Text {
  const leftSafe = left instanceof MarkedText && left.safe;
  const rightSafe = right instanceof MarkedText && right.safe;
  if (!leftSafe && !rightSafe) return concatTexts([left, right]);
  return asSafe(concatTexts([leftSafe ? left : escapeHtml(left), rightSafe ? right : escapeHtml(right)]));
}

export function asSafe(text: Text): MarkedText {
  return new MarkedText(plainText(text), text instanceof MarkedText ? text.marks : [], true);
}

const htmlEscapes: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", "'": "&#39;", '"': "&#34;" };

export function escapeHtml(text: Text): Text {
  return transformText(text, (plain) => plain.replace(/[&<>'"]/g, (character) => htmlEscapes[character] ?? character));
}
