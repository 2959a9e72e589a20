/**
 * The grammar of a Chat Completions stream that we send, as a state machine over its chunks:
 * role · reasoning* · content* · (tool call opened with id and name · its arguments*)* · finish · usage?
 * One id from start to end, one choice, tool calls numbered from 0 in order, usage exactly when it was asked for.
 */

interface ChatToolDelta {
  readonly index: number;
  readonly id?: string;
  readonly type?: "function" | "custom";
  readonly function?: { readonly name?: string; readonly arguments?: string };
  readonly custom?: { readonly name?: string; readonly input?: string };
}
export interface ChatDelta {
  readonly role?: "assistant";
  readonly content?: string;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly ChatToolDelta[];
}
export interface ChatChunk {
  readonly id: string;
  readonly object: "chat.completion.chunk";
  readonly created: number;
  readonly model: string;
  readonly choices: readonly { readonly index: number; readonly delta: ChatDelta; readonly finish_reason: string | null }[];
  readonly usage?: { readonly prompt_tokens: number; readonly completion_tokens: number; readonly total_tokens: number };
}

const stages = ["start", "role", "reasoning", "content", "tools", "finished", "usage"] as const;
type Stage = (typeof stages)[number];

/** Throws an Error that names the first breach. */
export function checkChatStream(chunks: readonly ChatChunk[], options: { readonly includeUsage: boolean }): void {
  const at: { stage: Stage } = { stage: "start" };
  let opened = 0;
  const ids = new Set<string>();
  const advance = (to: Stage): void => {
    if (stages.indexOf(to) < stages.indexOf(at.stage)) throw new Error(`chat stream: ${to} after ${at.stage}`);
    if (at.stage === "start" && to !== "role") throw new Error(`chat stream: begins with ${to}`);
    if (at.stage === "finished" && to !== "usage") throw new Error(`chat stream: ${to} after the finish reason`);
    at.stage = to;
  };
  for (const chunk of chunks) {
    if (chunk.id !== chunks[0]?.id || chunk.model !== chunks[0].model) throw new Error("chat stream: the id or model changes");
    const choice = chunk.choices[0];
    if (choice === undefined) {
      if (chunk.usage === undefined) throw new Error("chat stream: a chunk without choice or usage");
      if (at.stage !== "finished") throw new Error("chat stream: usage before the end");
      advance("usage");
      continue;
    }
    if (chunk.choices.length !== 1 || choice.index !== 0) throw new Error("chat stream: more than one choice");
    const { role, reasoning_content: reasoning, content, tool_calls: calls } = choice.delta;
    if (role !== undefined) {
      if (at.stage !== "start") throw new Error("chat stream: the role is said twice");
      advance("role");
    }
    if (reasoning !== undefined) advance("reasoning");
    if (content !== undefined && role === undefined) advance("content");
    for (const call of calls ?? []) {
      advance("tools");
      opened = checkToolDelta(call, opened, ids);
    }
    if (choice.finish_reason !== null) advance("finished");
  }
  const last: Stage = options.includeUsage ? "usage" : "finished";
  if (at.stage !== last) throw new Error(`chat stream: ends at ${at.stage}, not at ${last}`);
}

function checkToolDelta(call: ChatToolDelta, opened: number, ids: Set<string>): number {
  if (call.id === undefined) {
    if (call.index !== opened - 1) throw new Error("chat stream: arguments of a tool call that is not the open one");
    return opened;
  }
  if (call.index !== opened) throw new Error("chat stream: tool calls are not numbered in order");
  if (call.id === "" || ids.has(call.id)) throw new Error("chat stream: a tool call has no id of its own");
  if ((call.function?.name ?? call.custom?.name) === undefined) throw new Error("chat stream: a tool call opens without a name");
  ids.add(call.id);
  return opened + 1;
}
