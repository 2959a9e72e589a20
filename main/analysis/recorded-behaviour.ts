/** A stored rollout as what its behaviour is measured on. */
import { type RecordedBehaviour, type ToolUse, toolFailed } from "../../engine/behaviour/index.ts";
import type { Message } from "../../engine/conversation/index.ts";
import { isPolicysDoing } from "../../engine/outcome/index.ts";
import type { RolloutRecord, Store } from "../store/index.ts";
import { readTranscript, rebuildTrajectories, type Trajectories, type TranscriptCall } from "../trajectories/index.ts";

export function recordedBehaviour(store: Store, rollout: RolloutRecord, requiredTools: readonly string[]): RecordedBehaviour {
  const trajectories = rebuildTrajectories(store, rollout.id);
  const said = readTranscript(store, rollout.id, trajectories).filter(({ chain, answer }) => chain !== null && answer !== null);
  return {
    succeeded: succeeded(rollout),
    seconds: rollout.startedAt === null || rollout.endedAt === null ? null : (rollout.endedAt - rollout.startedAt) / 1000,
    calls: said.map(({ call, chain }) => ({ promptTokens: call.promptTokens, completionTokens: call.completionTokens, chain })),
    uses: said.flatMap(usesOf),
    requiredTools,
    compactions: trajectories.breaks.compaction ?? 0,
    finalText: finalText(said, trajectories),
  };
}

/** Null where there is no reward, and where the ending says nothing about the policy. */
function succeeded({ outcome, reward }: RolloutRecord): boolean | null {
  return outcome === null || reward === null || !isPolicysDoing(outcome) ? null : outcome.status === "succeeded";
}

function usesOf({ answer, results }: TranscriptCall): readonly ToolUse[] {
  return (answer?.message.toolCalls ?? []).map((call, at) => {
    const message = results[at] ?? null;
    const result = message === null ? null : textOf(message);
    return {
      tool: call.namespace === undefined ? call.name : `${call.namespace}.${call.name}`,
      arguments: call.arguments,
      result,
      failed: toolFailed(result, message === null ? null : errorMark(message)),
    };
  });
}

function textOf(message: Extract<Message, { role: "tool" }>): string {
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
  return message.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
}
