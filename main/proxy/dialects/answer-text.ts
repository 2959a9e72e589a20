import type { ContentPart } from "../../../engine/conversation/index.ts";

/** The text of an answer's content; an answer holds text parts only, others have no place on these wires. */
export function answerText(content: readonly ContentPart[]): string {
  return content.map((part) => (part.type === "text" ? part.text : "")).join("");
}
