/** A stored rollout as what its behaviour is measured on. */
import { isGenericShell, isObservation, type RecordedBehaviour, type ToolUse, textAction, toolFailed } from "../../engine/behaviour/index.ts";
import type { Message } from "../../engine/conversation/index.ts";
import { isPolicysDoing } from "../../engine/outcome/index.ts";
import type { RolloutRecord, Store } from "../store/index.ts";
import { readTranscript, rebuildTrajectories, type Trajectories, type TranscriptCall } from "../trajectories/index.ts";

/** What the rollout's task says about tools. */
export interface TaskTools {
  readonly requiredTools: readonly string[];
  /** Names of its tool servers. */
  readonly servers: readonly string[];
}

export function recordedBehaviour(store: Store, rollout: RolloutRecord, task: TaskTools): RecordedBehaviour {
  const trajectories = rebuildTrajectories(store, rollout.id);
  const transcript = readTranscript(store, rollout.id, trajectories);
  // What a harness asks beside its main loop says nothing about how the policy works.
  const said = transcript.filter(({ call, chain, answer }) => chain !== null && answer !== null && call.side === null);
  return {
    succeeded: succeeded(rollout),
    seconds: rollout.startedAt === null || rollout.endedAt === null ? null : (rollout.endedAt - rollout.startedAt) / 1000,
    calls: said.map(({ call, chain }) => ({ promptTokens: call.promptTokens, completionTokens: call.completionTokens, chain })),
    uses: said.flatMap((call) => usesOf(call, said)),
    requiredTools: task.requiredTools.map((name) => [name, ...(task.servers.includes(name) ? toolsWithoutServer(said, name) : [])]),
    compactions: trajectories.breaks.compaction ?? 0,
    finalText: finalText(said, trajectories),
  };
}

/** Some harnesses offer a server's tools without its name: then they are those that are no shell. */
function toolsWithoutServer(said: readonly TranscriptCall[], server: string): readonly string[] {
  const offered = new Set(said.flatMap(({ tools }) => tools.flatMap((tool) => (tool.kind === "function" ? [toolName(tool)] : []))));
  return [...offered].some((tool) => tool.includes(server)) ? [] : [...offered].filter((tool) => !isGenericShell(tool));
}

function toolName({ namespace, name }: { readonly namespace?: string; readonly name: string }): string {
  return namespace === undefined ? name : `${namespace}.${name}`;
}

/** Null where there is no reward, and where the ending says nothing about the policy. */
function succeeded({ outcome, reward }: RolloutRecord): boolean | null {
  return outcome === null || reward === null || !isPolicysDoing(outcome) ? null : outcome.status === "succeeded";
}

function usesOf(said: TranscriptCall, all: readonly TranscriptCall[]): readonly ToolUse[] {
  const { answer, results } = said;
  const made = answer?.message.toolCalls ?? [];
  if (made.length === 0) return textUse(said, all);
  return made.map((call, at) => {
    const message = results[at] ?? null;
    const result = message === null ? null : textOf(message);
    const failed = toolFailed(result, message === null ? null : errorMark(message));
    return { tool: toolName(call), arguments: call.arguments, result, failed };
  });
}

/** A command in the text counts once its observation came back: else the text only speaks of one. */
function textUse({ call, answer }: TranscriptCall, all: readonly TranscriptCall[]): readonly ToolUse[] {
  const command = answer === null ? null : textAction(textOf(answer.message));
  const next = all.find(({ parent }) => parent === call.index);
  const observation = next?.messages.slice(next.known).find(({ role }) => role === "user");
  if (command === null || observation === undefined || observation.role === "other") return [];
  const result = textOf(observation);
  return isObservation(result) ? [{ tool: "shell", arguments: JSON.stringify({ command }), result, failed: toolFailed(result, null) }] : [];
}

function textOf(message: Exclude<Message, { role: "other" }>): string {
  return message.content.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join("\n");
}

/** `is_error` where the dialect has it; absent says nothing: harnesses leave it out in both cases. */
function errorMark({ extra }: Extract<Message, { role: "tool" }>): boolean | null {
  if (extra === undefined) return null;
  const fields: unknown = JSON.parse(extra);
  return typeof fields === "object" && fields !== null && "is_error" in fields && typeof fields.is_error === "boolean" ? fields.is_error : null;
}

/** The last words outside subagents, when they called no tool. */
function finalText(said: readonly TranscriptCall[], { chains }: Trajectories): string | null {
  const last = said.findLast(({ chain }) => chain !== null && chains[chain]?.breakCause !== "subagent");
  const message = last?.answer?.message;
  if (message === undefined || message.toolCalls.length > 0) return null;
  const text = message.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
  return textAction(text) === null ? text : null;
}
