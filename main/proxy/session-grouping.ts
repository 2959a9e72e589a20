/**
 * Which conversation a request belongs to, when one address serves a whole program: by the name that the client gives its session, else
 * by what the request repeats of an earlier one. Pure.
 */
import { hash } from "node:crypto";
import type { Message } from "../../engine/conversation/index.ts";

export interface GroupedRequest {
  readonly headers: Readonly<Record<string, string>>;
  /** Names of sessions that stand in the body: `prompt_cache_key`, `metadata.user_id`. */
  readonly bodyNames: readonly string[];
  readonly requestKey: string;
  readonly messages: readonly Message[];
}

export interface SessionGrouping<Session> {
  /** null = a conversation that has just begun. */
  find(request: GroupedRequest): Session | null;
  keep(request: GroupedRequest, session: Session): void;
}

/** Headers by which clients name a whole session, subagents included; a parent's name comes before the own one. */
const sessionHeaders = [
  "x-parent-session-id",
  "x-claude-code-session-id",
  "x-litellm-session-id",
  "session-id",
  "session_id",
  "x-session-id",
  "x-session-affinity",
];

/** Conversations remembered at most, oldest forgotten first. */
const mostPlaces = 100_000;

export function createSessionGrouping<Session>(): SessionGrouping<Session> {
  const byName = new Map<string, Session>();
  const byKey = new Map<string, Session>();
  const byPlace = new Map<string, Session>();
  const placesOf = createPlaces();
  return {
    find(request) {
      const name = nameOf(request);
      if (name !== null) return byName.get(name) ?? null;
      const again = byKey.get(request.requestKey);
      if (again !== undefined) return again;
      for (const place of placesOf(request.messages).answered.toReversed()) {
        const found = byPlace.get(place);
        if (found !== undefined) return found;
      }
      return null;
    },
    keep(request, session) {
      const name = nameOf(request);
      if (name !== null) byName.set(name, session);
      byKey.set(request.requestKey, session);
      const { answered, next } = placesOf(request.messages);
      for (const place of [...answered, next]) byPlace.set(place, session);
      for (const map of [byKey, byPlace]) for (const key of map.keys()) if (map.size > mostPlaces) map.delete(key);
    },
  };
}

function nameOf({ headers, bodyNames }: GroupedRequest): string | null {
  for (const header of sessionHeaders) {
    const value = headers[header];
    if (value !== undefined && value !== "") return value;
  }
  return bodyNames[0] ?? null;
}

interface Places {
  readonly answered: readonly string[];
  readonly next: string;
}

/**
 * A key for each place where an answer stands in the request, and for the one where the next will: everything before it. A conversation
 * that repeats an earlier request up to there goes on from it; equal openings alone are two conversations. A history that grows is the
 * same messages again, by identity too where the reader read on from it: what follows from each is known then.
 */
function createPlaces(): (messages: readonly Message[]) => Places {
  const known = new WeakMap<Message, { readonly before: string; readonly after: string }>();
  return (messages) => {
    const answered: string[] = [];
    let key = "";
    for (const message of messages) {
      if (message.role === "assistant" && key !== "") answered.push(key);
      const step = known.get(message);
      const after = step?.before === key ? step.after : hash("sha256", `${key}${JSON.stringify(message)}`, "hex");
      if (step?.before !== key) known.set(message, { before: key, after });
      key = after;
    }
    return { answered, next: key };
  };
}
