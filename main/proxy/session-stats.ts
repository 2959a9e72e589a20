/** Counts of one session, from what was recorded. */
import { type CaptureLevel, captureLevels } from "../../engine/conversation/index.ts";
import type { CallRecord } from "../store/index.ts";
import type { Ending } from "./call-events.ts";
import type { SessionStats } from "./contract.ts";

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export interface StatsKeeper {
  recorded(call: CallRecord, ending: Ending, secretSeen: boolean): void;
  counted(): void;
  refused(): void;
  read(): SessionStats;
}

export function createStats(): StatsKeeper {
  const stats: Mutable<SessionStats> = {
    calls: 0,
    answered: 0,
    failed: 0,
    aborted: 0,
    late: 0,
    unknownPaths: 0,
    tokenCounts: 0,
    refused: 0,
    promptTokens: 0,
    completionTokens: 0,
    capture: "nothing",
    lastFailure: null,
    failing: false,
    contextOverflow: false,
    unparsedToolCall: false,
    answerCut: false,
    secretSeen: false,
  };
  return {
    recorded(call, ending, secretSeen) {
      if (call.status === "not-found") {
        stats.unknownPaths += 1;
        return;
      }
      stats.calls += 1;
      if (call.aborted) stats.aborted += 1;
      if (call.late) stats.late += 1;
      stats.promptTokens += call.promptTokens;
      stats.completionTokens += call.completionTokens;
      stats.unparsedToolCall ||= call.unparsedToolCall;
      stats.secretSeen ||= secretSeen;
      if (ending.kind === "cancelled") return;
      if (ending.result.ok) {
        stats.capture = stats.answered === 0 ? call.capture : lower(stats.capture, call.capture);
        stats.answered += 1;
        stats.failing = false;
        stats.answerCut = call.finishReason === "length";
      } else {
        const { kind, message } = ending.result.failure;
        stats.failed += 1;
        stats.failing = true;
        stats.lastFailure = { kind, message };
        stats.contextOverflow ||= kind === "context-overflow";
      }
    },
    counted() {
      stats.tokenCounts += 1;
    },
    refused() {
      stats.refused += 1;
    },
    read: () => ({ ...stats }),
  };
}

function lower(left: CaptureLevel, right: CaptureLevel): CaptureLevel {
  return captureLevels.indexOf(left) > captureLevels.indexOf(right) ? left : right;
}
