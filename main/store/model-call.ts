import type { CallRecord } from "./contract.ts";

/** Whether the policy was to answer: a recorded request may also be one that the proxy answers itself. */
export function isModelCall({ status }: Pick<CallRecord, "status">): boolean {
  return status !== "not-found" && status !== "counted";
}
