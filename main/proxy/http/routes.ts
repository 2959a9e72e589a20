/** Which part of the proxy a path asks for. Pure. */
import type { DialectId } from "../dialects/dialect.ts";

export type Route =
  /** No rollout is named. */
  | { readonly kind: "outside" }
  | { readonly kind: "model"; readonly rolloutId: string; readonly dialect: DialectId }
  /** How many tokens a request would be: no call. */
  | { readonly kind: "count"; readonly rolloutId: string; readonly dialect: "messages" | "gemini" }
  | { readonly kind: "models"; readonly rolloutId: string }
  | { readonly kind: "health"; readonly rolloutId: string }
  | { readonly kind: "unknown"; readonly rolloutId: string };

/** `url` as in the request line. The version segment may be missing: clients differ in what they take for the base. */
export function readRoute(method: string, url: string): Route {
  const path = url.split("?", 1)[0] ?? "";
  const match = /^\/r\/([^/]+)(?:\/v1(?:alpha|beta)?)?(\/.*)?$/.exec(path);
  const rolloutId = match?.[1];
  if (rolloutId === undefined) return { kind: "outside" };
  const rest = (match?.[2] ?? "/").replace(/\/+$/, "");
  if (method === "HEAD") return { kind: "health", rolloutId };
  if (method === "GET" && (rest === "" || rest === "/health")) return { kind: "health", rolloutId };
  if (method === "GET" && /^\/models(\/|$)/.test(rest)) return { kind: "models", rolloutId };
  if (method !== "POST") return { kind: "unknown", rolloutId };
  const dialect = modelPaths[rest];
  if (dialect !== undefined) return { kind: "model", rolloutId, dialect };
  if (rest === "/messages/count_tokens") return { kind: "count", rolloutId, dialect: "messages" };
  const action = /^\/models\/[^/]+:(\w+)$/.exec(rest)?.[1];
  if (action === "generateContent" || action === "streamGenerateContent") return { kind: "model", rolloutId, dialect: "gemini" };
  if (action === "countTokens") return { kind: "count", rolloutId, dialect: "gemini" };
  return { kind: "unknown", rolloutId };
}

const modelPaths: Readonly<Record<string, DialectId>> = { "/chat/completions": "chat", "/responses": "responses", "/messages": "messages" };

/** Dialect whose error form a request gets: by its path, else by a header that only clients of one send; most others understand OpenAI's. */
export function errorDialectOf(url: string, headers: Readonly<Record<string, unknown>>): DialectId {
  if (/\/responses(\/|\?|$)/.test(url)) return "responses";
  if (/\/messages(\/|\?|$)/.test(url)) return "messages";
  if (/\/models\/[^/?]+:/.test(url)) return "gemini";
  if (/\/chat\/completions(\/|\?|$)/.test(url)) return "chat";
  if ("anthropic-version" in headers) return "messages";
  return "x-goog-api-key" in headers || "x-goog-api-client" in headers ? "gemini" : "chat";
}

/** The credential of a request, wherever clients of the dialects put it; null when there is none. */
export function credentialOf(headers: Readonly<Record<string, string | string[] | undefined>>, url: string): string | null {
  const authorization = headers.authorization;
  if (typeof authorization === "string") return authorization.replace(/^Bearer\s+/i, "").trim();
  for (const name of ["x-api-key", "api-key", "x-goog-api-key"]) {
    const value = headers[name];
    if (typeof value === "string") return value.trim();
  }
  return new URLSearchParams(url.split("?", 2)[1] ?? "").get("key");
}
