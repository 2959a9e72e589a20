import { WorkbenchError } from "../errors.ts";
import type { Upstream } from "../proxy/index.ts";
import type { TokenMode } from "../store/index.ts";

/** Refuses a token mode that the policy cannot serve. */
export function requireTokenMode(mode: TokenMode | undefined, policy: string, { takesTokenIds }: Pick<Upstream, "takesTokenIds">): void {
  if (mode === undefined || mode === "text-in" || takesTokenIds) return;
  throw new WorkbenchError(
    "usage",
    `The policy ${policy} takes no token ids, so the token mode ${mode} is not possible.`,
    "Leave tokenMode out, or use text-in.",
  );
}
