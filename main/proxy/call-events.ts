/** What happens to the calls of one rollout attempt (events) and what is to be done about it (commands). The machine between them does no I/O. */
import type { RetryBudget } from "./retry-policy.ts";
import type { UpstreamFailure, UpstreamResult } from "./upstreams/upstream.ts";

export type HoldPoint = "request" | "answer";
/** Why a call ends without a result of its upstream. */
export type CancelReason = "client-gone" | "agent-phase-ended" | "late";
export type Ending = { readonly kind: "result"; readonly result: UpstreamResult } | { readonly kind: "cancelled"; readonly reason: CancelReason };

export type MachineTimer =
  | { readonly kind: "status" | "comment" | "twin"; readonly connection: number }
  | { readonly kind: "retry" | "budget" | "abandon"; readonly call: number; readonly ticket: number };

export type MachineEvent =
  /**
   * A request; `hold` = stop before the upstream sees it. `alive` = the client wants a stream and counts comments as life.
   * `instead` = no upstream is asked: the request is refused, or answered from elsewhere.
   */
  | {
      readonly type: "arrived";
      readonly connection: number;
      readonly key: string;
      readonly alive: boolean;
      readonly hold: boolean;
      readonly instead?: UpstreamResult;
    }
  | { readonly type: "upstream-ended"; readonly call: number; readonly ticket: number; readonly result: UpstreamResult; readonly hold: boolean }
  /** A held call goes on; `instead` replaces the upstream (at `request`) or its answer (at `answer`). */
  | { readonly type: "resumed"; readonly call: number; readonly point: HoldPoint; readonly instead?: UpstreamResult }
  | { readonly type: "recorded"; readonly call: number }
  | { readonly type: "record-failed"; readonly call: number; readonly failure: UpstreamFailure }
  /** The last byte of the answer was handed to the client's socket. */
  | { readonly type: "delivered"; readonly connection: number }
  /** The client's connection closed, before or just after the last byte. */
  | { readonly type: "client-gone"; readonly connection: number }
  | { readonly type: "timer"; readonly timer: MachineTimer }
  | { readonly type: "agent-phase-ended" }
  /** Of a rollout of several steps: the next agent is about to run. */
  | { readonly type: "agent-phase-begun" };

export interface CallMark {
  readonly replays?: number;
  readonly aborted?: boolean;
  readonly status?: "ok" | "aborted";
  readonly quarantined?: string;
}

export type MachineCommand =
  /** A new call exists; its number is by order of arrival. */
  | { readonly type: "begin"; readonly call: number; readonly connection: number }
  | { readonly type: "hold"; readonly call: number; readonly point: HoldPoint }
  | { readonly type: "forward"; readonly call: number; readonly ticket: number }
  | { readonly type: "abort"; readonly call: number }
  | {
      readonly type: "record";
      readonly call: number;
      readonly ending: Ending;
      readonly aborted: boolean;
      readonly replays: number;
      readonly retries: number;
    }
  /** Send the status line and headers of a stream, and a first comment. */
  | { readonly type: "open"; readonly connection: number }
  | { readonly type: "comment"; readonly connection: number }
  | { readonly type: "send"; readonly connection: number; readonly call: number; readonly ending: Ending }
  | { readonly type: "mark"; readonly call: number; readonly mark: CallMark }
  /** Nothing will ask for this call again. */
  | { readonly type: "forget"; readonly call: number }
  | { readonly type: "wait"; readonly timer: MachineTimer; readonly ms: number };

export interface MachineSettings {
  /** The client comes back for an answer whose connection it cut: keep sampling for it. */
  readonly returnsForAnswer: boolean;
  readonly retry: RetryBudget;
  /** The status line is held this long at most where the client counts comments as life. */
  readonly statusHoldMs: number;
  readonly commentMs: number;
  /** Upstream time of one call, retries included. */
  readonly callBudgetMs: number;
  /** How long an answer that nobody waits for is still sampled. */
  readonly abandonMs: number;
  /** In [0, 1). */
  readonly random: () => number;
}
