/** What is new in a request: the messages since the call before. Pure. */
import type { MessageView } from "../../service/views.ts";

const same = (left: MessageView, right: MessageView): boolean => JSON.stringify(left) === JSON.stringify(right);

/** How many leading messages two requests have in common. */
export function unchangedPrefix(before: readonly MessageView[], now: readonly MessageView[]): number {
  let n = 0;
  for (const message of now) {
    const other = before[n];
    if (other === undefined || !same(other, message)) return n;
    n += 1;
  }
  return n;
}

/** Characters of a message, reasoning and tool calls included. */
export function messageLength(message: MessageView): number {
  const content = message.content.reduce(
    (sum, part) => sum + (part.type === "text" ? part.text.length : part.type === "other" ? part.raw.length : 0),
    0,
  );
  const calls = message.toolCalls.reduce((sum, call) => sum + call.name.length + call.arguments.length, 0);
  return content + calls + (message.reasoning?.length ?? 0);
}

const saysCut = /\b(truncated|omitted)\b|\bcut (off|after|to)\b|\b(characters|bytes|lines|tokens) (cut|left out|removed)\b/i;

/** The line of a tool result that says it was cut; null when none does. Looks at the ends, where harnesses say it. */
export function cutLine(message: MessageView): string | null {
  if (message.role !== "tool") return null;
  const text = message.content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
  const ends = text.length > 800 ? `${text.slice(0, 400)}\n${text.slice(-400)}` : text;
  return ends.split("\n").find((line) => saysCut.test(line)) ?? null;
}

/** The tool that a result answers, by the id of its call. */
export function toolNameOf(messages: readonly MessageView[], result: MessageView): string | null {
  if (result.toolCallId === null) return null;
  for (const message of messages) for (const call of message.toolCalls) if (call.id === result.toolCallId) return call.name;
  return null;
}
