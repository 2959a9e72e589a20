import type { SessionOptions } from "./contract.ts";
import { loadPolicyText } from "./policy-text.ts";
import { createTokenIn, type TokenIn } from "./token-in.ts";

/** Token-in for a session; null when its policy renders messages itself. */
export async function openTokenIn(session: SessionOptions): Promise<TokenIn | null> {
  const { tokenMode, upstream } = session;
  if (tokenMode === "text-in" || !upstream.takesTokenIds || upstream.tokenizerFolder === null) return null;
  const { builder } = await loadPolicyText(upstream.tokenizerFolder);
  return createTokenIn({ builder, mode: tokenMode, contextWindow: session.contextWindow ?? upstream.contextWindow });
}
