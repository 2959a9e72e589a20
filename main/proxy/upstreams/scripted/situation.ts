/** What a rule can look at: a request's texts, laid out once. */
import type { ContentPart, Message } from "../../../../engine/conversation/index.ts";
import type { UpstreamRequest } from "../upstream.ts";

export interface Situation {
  readonly call: number;
  readonly turns: number;
  readonly toolResults: number;
  readonly lastRole: Message["role"] | null;
  readonly tools: ReadonlySet<string>;
  readonly dialect: string;
  readonly harness: string;
  readonly task: string;
  readonly texts: Readonly<Record<TextPlace, readonly string[]>>;
}

type TextPlace = "last" | "user" | "system" | "toolResult" | "anywhere";

export function situationOf(request: UpstreamRequest): Situation {
  const { conversation, labels } = request;
  const { messages } = conversation;
  const last = messages.at(-1);
  const lastTurn = messages.findLastIndex((message) => message.role === "assistant");
  const textsOf = (chosen: readonly Message[]): readonly string[] => chosen.map(messageText);
  return {
    call: request.callIndex,
    turns: messages.filter((message) => message.role === "assistant").length,
    toolResults: messages.filter((message) => message.role === "tool").length,
    lastRole: last?.role ?? null,
    tools: new Set(conversation.tools.flatMap((tool) => (tool.kind === "function" ? [tool.name] : []))),
    dialect: labels.dialect,
    harness: labels.harness ?? "",
    task: labels.task ?? "",
    texts: {
      last: last === undefined ? [] : [messageText(last)],
      user: textsOf(messages.filter((message) => message.role === "user")),
      system: textsOf(messages.filter((message) => message.role === "system" || message.role === "developer")),
      toolResult: textsOf(messages.slice(lastTurn + 1).filter((message) => message.role === "tool")),
      anywhere: textsOf(messages),
    },
  };
}

function messageText(message: Message): string {
  if (message.role === "other") return message.raw;
  const text = message.content.map(partText).join("\n");
  if (message.role !== "assistant") return text;
  return [text, ...message.toolCalls.map((call) => `${call.name} ${call.arguments}`)].join("\n");
}

function partText(part: ContentPart): string {
  if (part.type === "text") return part.text;
  return part.type === "other" ? part.raw : "";
}
