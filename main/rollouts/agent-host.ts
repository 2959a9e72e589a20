/** Where the agent of one attempt runs: started alone inside the rollout's sandbox, or as one session of a resident process. */
import type { AgentFacts } from "../../engine/outcome/index.ts";
import type { HarnessManifest } from "../harnesses/index.ts";
import type { ProxySession, SessionOptions, SessionStats } from "../proxy/index.ts";
import type { Sandbox } from "../sandboxes/index.ts";
import type { Task } from "../tasks/index.ts";
import type { AgentClock } from "./agent-clock.ts";

/** The same for every policy: no prompt tells which one answers, and no harness knows a model of this name. */
export const policyModelName = "workbench-policy";

export interface AgentTask {
  readonly task: Task;
  readonly manifest: HarnessManifest;
  readonly session: ProxySession;
  /** Names this attempt to a resident harness. */
  readonly sessionId: string;
  readonly workdir: string;
  /** The task's variables, with their values. */
  readonly environment: Readonly<Record<string, string>>;
  /** The task's MCP servers, with the values of their headers. */
  readonly mcpServers: Task["environment"]["mcpServers"];
  readonly contextWindow: number;
}

/** How the agent ended: data, whatever it was. */
export interface AgentEnd {
  readonly exitCode: number | null;
  readonly timedOut: boolean;
  readonly outOfMemory: boolean;
  /** For a person: its last line of error output. */
  readonly lastWords: string | null;
  /** Goes to `/logs/agent/final.txt`; null = nothing to be written. */
  readonly finalText: Uint8Array | null;
  /** Kept beside what lies in `/logs/agent`. */
  readonly logs: readonly { readonly name: string; readonly bytes: Uint8Array }[];
}

export interface AgentHost {
  /** How the rollout's session is reached. */
  readonly link: Pick<SessionOptions, "socketFolder" | "door">;
  /** Socket that the rollout's own sandbox gets; null = no model in there. */
  proxySocket(session: ProxySession): string | null;
  /** Before anything is put into the rollout's sandbox. */
  provide(sandbox: Sandbox): Promise<void>;
  /** After the task was laid out. */
  setUp(sandbox: Sandbox, agent: AgentTask): Promise<void>;
  /** Until the agent ends or the clock is over. Rejects when the rollout's sandbox is lost. */
  run(sandbox: Sandbox, agent: AgentTask, clock: AgentClock, signal: AbortSignal): Promise<AgentEnd>;
}

/** What classification needs to know, from the agent's end and from what the proxy saw since `before` (null = since the session began). */
export function agentFacts(manifest: HarnessManifest, end: AgentEnd, session: ProxySession, before: SessionStats | null): AgentFacts {
  const stats = statsSince(before, session.stats());
  return {
    ending: end.outOfMemory && end.exitCode !== 0 ? "out-of-memory" : end.timedOut ? "timed-out" : "exited",
    exitCode: end.exitCode,
    limitReached: end.exitCode !== null && manifest.stop.limitExitCodes.includes(end.exitCode),
    calls: stats.calls,
    answered: stats.answered,
    standingFailure: stats.failing ? stats.lastFailure : null,
    contextOverflow: stats.contextOverflow,
    unparsedToolCall: stats.unparsedToolCall,
    answerCut: stats.answerCut,
    secretSeen: stats.secretSeen,
    astray: astray(stats),
    lastWords: end.lastWords,
  };
}

/** Of what a session counted, what one of several agents did. A secret stays seen: it is in the history of all that follows. */
function statsSince(before: SessionStats | null, now: SessionStats): SessionStats {
  if (before === null) return now;
  return {
    ...now,
    calls: now.calls - before.calls,
    answered: now.answered - before.answered,
    unknownPaths: now.unknownPaths - before.unknownPaths,
    refused: now.refused - before.refused,
    failing: now.failing && now.calls > before.calls,
    contextOverflow: now.contextOverflow && !before.contextOverflow,
    unparsedToolCall: now.unparsedToolCall && !before.unparsedToolCall,
    answerCut: now.answerCut && now.calls > before.calls,
  };
}

function astray({ refused, unknownPaths }: SessionStats): string | null {
  const counts = [
    refused === 0 ? [] : [`${refused} came with a wrong key`],
    unknownPaths === 0 ? [] : [`${unknownPaths} went to unknown paths`],
  ].flat();
  return counts.length === 0 ? null : `Of its requests, ${counts.join(" and ")}.`;
}
