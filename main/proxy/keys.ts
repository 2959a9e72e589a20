/** Session keys. They say what they are, so that every other door of the service can refuse them by name. */
import { randomBytes, timingSafeEqual } from "node:crypto";

const prefix = "ofr-";

export function newRolloutKey(): string {
  return prefix + randomBytes(24).toString("base64url");
}

/** Whether a credential is the key of a rollout, which opens model routes and nothing else. */
export function isRolloutKey(text: string): boolean {
  return text.startsWith(prefix);
}

/** Compares in constant time for equal lengths. */
export function isSameKey(given: string, expected: string): boolean {
  const left = Buffer.from(given);
  const right = Buffer.from(expected);
  return left.length === right.length && timingSafeEqual(left, right);
}
