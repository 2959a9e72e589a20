/** Faults on purpose, as the failures that the real thing would give. */

import { overflowFailure } from "../../token-in.ts";
import { failureOfStatus, garbledFailure, unreachableFailure } from "../server-failure.ts";
import type { UpstreamFailure } from "../upstream.ts";
import type { ScriptFault } from "./schema.ts";

const place = "scripted";

export function faultFailure(fault: ScriptFault, contextWindow: number): UpstreamFailure {
  const failure = failureOf(fault, contextWindow);
  return fault.through ? { ...failure, retryable: false } : failure;
}

function failureOf(fault: ScriptFault, contextWindow: number): UpstreamFailure {
  switch (fault.kind) {
    case "status": {
      const text = JSON.stringify({ error: { message: fault.message ?? "a fault from the rule file" } });
      const retryAfter = fault.retryAfterSeconds === undefined ? null : String(fault.retryAfterSeconds);
      return failureOfStatus({ status: fault.status, retryAfter, text }, 0);
    }
    case "timeout":
      return unreachableFailure(place, fault.message ?? "no answer came");
    case "cut":
      return unreachableFailure(place, fault.message ?? "the connection closed inside the answer");
    case "garbled":
      return garbledFailure(place, fault.message ?? "it is not JSON");
    case "context-overflow":
      return overflowFailure(contextWindow, contextWindow * 2);
  }
}
