/**
 * `encrypted_content` of our reasoning items: the reasoning itself, opaque to a client as the dialect wants it. Some clients empty
 * everything else of the item when they send it back; this comes back whole.
 */

const prefix = "ofr1.";

export function sealReasoning(text: string): string {
  return prefix + Buffer.from(text).toString("base64url");
}

/** null when somebody else sealed it. */
export function unsealReasoning(sealed: string): string | null {
  return sealed.startsWith(prefix) ? Buffer.from(sealed.slice(prefix.length), "base64url").toString() : null;
}
