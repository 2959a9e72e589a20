import type { SessionOptions } from "./contract.ts";
import type { TokenIn } from "./token-in.ts";

/** null when the session's policy renders messages itself. */
export async function openTokenIn(session: SessionOptions): Promise<TokenIn | null> {
  if (session.tokenMode === "text-in" || !session.upstream.takesTokenIds || session.upstream.tokenizerFolder === null) return null;
  throw new Error("not built yet: prompts as ids");
}
