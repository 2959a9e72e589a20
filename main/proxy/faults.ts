/** Failures as a client is told them. An upstream's trouble keeps its kind; what the harness can't mend is not dressed as its own fault. */
import type { CancelReason, Ending } from "./call-events.ts";
import type { Fault } from "./dialects/dialect.ts";
import type { UpstreamFailure } from "./upstreams/upstream.ts";

const serverError = { type: "server_error" } as const;
const invalid = { type: "invalid_request_error" } as const;

export function faultOfFailure(failure: UpstreamFailure): Fault {
  const message = failure.remedy === "" ? failure.message : `${failure.message} ${failure.remedy}`;
  switch (failure.kind) {
    case "rate-limited":
      // A client that is not told when to come back often gives up at once.
      return { status: 429, code: "rate_limit_exceeded", type: "rate_limit_error", message, retryAfterSeconds: retrySeconds(failure) };
    case "context-overflow":
      return { status: 400, code: "context_length_exceeded", ...invalid, message };
    case "bad-request":
      return { status: failure.status ?? 400, code: failure.code ?? "invalid_request", ...invalid, message };
    case "auth":
      // 401 would say that the harness's own key is wrong; some clients then refuse to work for a while.
      return { status: 400, code: "policy_refused_key", ...invalid, message };
    case "spending-limit":
      // No client comes back after this status, and none can mend it.
      return { status: 402, code: "spending_limit_reached", ...invalid, message };
    case "server-error":
      return { status: failure.status ?? 502, code: "server_error", ...serverError, message };
    case "unreachable":
      return { status: 502, code: "policy_unreachable", ...serverError, message };
    case "garbled":
      return { status: 502, code: "policy_answer_unreadable", ...serverError, message };
  }
}

function retrySeconds(failure: UpstreamFailure): number {
  return Math.max(1, Math.ceil((failure.retryAfterMs ?? 1_000) / 1_000));
}

const cancelMessages: Readonly<Record<CancelReason, string>> = {
  "client-gone": "The client closed the connection before the answer was there.",
  "agent-phase-ended": "The agent's time is over: this call was cancelled.",
  late: "The agent's time is over: no further call is answered.",
};

/** null for an answer. */
export function faultOfEnding(ending: Ending): Fault | null {
  if (ending.kind === "cancelled") return { status: 409, code: "rollout_ended", ...invalid, message: cancelMessages[ending.reason] };
  return ending.result.ok ? null : faultOfFailure(ending.result.failure);
}

/** A refusal of ours as a result, so that it is recorded and sent as every other. */
export function refusalOf(fault: Fault): { readonly ok: false; readonly failure: UpstreamFailure } {
  return {
    ok: false,
    failure: { kind: "bad-request", status: fault.status, code: fault.code, message: fault.message, remedy: "", retryable: false },
  };
}

/** A bug of ours must not leave a harness hanging. */
export function brokenFailure(error: unknown): UpstreamFailure {
  const message = `The call broke inside the workbench: ${reasonOf(error)}.`;
  return { kind: "server-error", status: 500, message, remedy: "Please report this.", retryable: false };
}

export function unrecordedFailure(error: unknown): UpstreamFailure {
  const message = `The call could not be recorded: ${reasonOf(error)}.`;
  return { kind: "server-error", status: 500, message, remedy: "Look at the data folder's disk.", retryable: false };
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export const wrongKeyFault: Fault = {
  status: 401,
  code: "invalid_api_key",
  type: "authentication_error",
  message: "This key does not open this rollout: use the base URL and key that the harness was started with.",
};
export const otherRouteFault: Fault = {
  status: 403,
  code: "route_not_allowed",
  type: "permission_error",
  message: "The key of a rollout opens the model routes of that rollout and nothing else.",
};
export const brokenFault: Fault = {
  status: 500,
  code: "server_error",
  ...serverError,
  message: "The proxy broke on this request. Please report this.",
};
export const noRouteFault: Fault = {
  status: 404,
  code: "not_found",
  ...invalid,
  message: "There is nothing here: the base URL of a rollout is http://HOST/r/ROLLOUT/v1.",
};
export const unknownPathFault: Fault = {
  status: 404,
  code: "unknown_path",
  ...invalid,
  message:
    "This path is not served: the policy answers POST /v1/chat/completions, /v1/responses, /v1/messages and /v1beta/models/MODEL:generateContent, and GET /v1/models.",
};
