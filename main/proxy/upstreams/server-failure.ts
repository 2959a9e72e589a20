/** What a server's refusal means: by its status first, by its words where servers use one status for several things. */
import { z } from "zod";
import type { UpstreamFailure } from "./upstream.ts";

const errorSchema = z.union([
  z.looseObject({ error: z.looseObject({ message: z.string(), code: z.union([z.string(), z.number()]).nullish() }) }),
  z.looseObject({ error: z.string() }),
  z.looseObject({ message: z.string() }),
  z.looseObject({ detail: z.string() }),
]);

const overflowWords =
  /maximum context length|context_length_exceeded|context (?:window|length|size|limit)|prompt is too long|too many (?:input )?tokens|max_model_len|exceeds? the (?:available|maximum) /i;
const templateWords = /jinja|chat.?template|raise_exception|roles must alternate/i;

export interface ServerAnswer {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly text: string;
}

export function failureOfStatus({ status, retryAfter, text }: ServerAnswer, now: number): UpstreamFailure {
  const said = shorten(serverMessage(text));
  const base = { status, message: said === "" ? `The policy server answered with status ${status}.` : `The policy server says (${status}): ${said}` };
  if (status === 429) {
    const retryAfterMs = readRetryAfter(retryAfter, now);
    return {
      ...base,
      kind: "rate-limited",
      remedy: "Lower the concurrency, or raise the server's limit.",
      retryable: true,
      ...(retryAfterMs === null ? {} : { retryAfterMs }),
    };
  }
  if (status === 401 || status === 403)
    return { ...base, kind: "auth", remedy: "Check the key that the policy's environment variable holds.", retryable: false };
  if (overflowWords.test(said) && status < 500)
    return { ...base, kind: "context-overflow", remedy: "Please reduce the length of the messages.", retryable: false };
  if (status >= 500 && templateWords.test(said))
    return { ...base, status: 400, kind: "bad-request", remedy: "The model's chat template does not take this conversation.", retryable: false };
  if (status >= 500 || status === 408 || status === 425) {
    const retryAfterMs = readRetryAfter(retryAfter, now);
    return {
      ...base,
      status: status >= 500 ? status : 503,
      kind: "server-error",
      remedy: "Look at the log of the policy server.",
      retryable: true,
      ...(retryAfterMs === null ? {} : { retryAfterMs }),
    };
  }
  // A redirect is no answer that a harness could make anything of.
  if (status < 400) return { ...base, status: 502, kind: "garbled", remedy: "Give the policy the URL that this one leads to.", retryable: false };
  if (status === 404) return { ...base, kind: "bad-request", remedy: "Check the policy's URL and the name of its model.", retryable: false };
  return { ...base, kind: "bad-request", remedy: "", retryable: false };
}

export function unreachableFailure(url: string, reason: string): UpstreamFailure {
  return {
    kind: "unreachable",
    message: `The policy at ${url} can't be reached: ${reason}.`,
    remedy: "Start the server, or correct the policy's URL.",
    retryable: true,
  };
}

export function garbledFailure(url: string, problem: string): UpstreamFailure {
  return {
    kind: "garbled",
    message: `The policy at ${url} gave an answer that can't be read: ${problem}.`,
    remedy: "Check that the server is of the kind that the policy says.",
    retryable: true,
  };
}

function serverMessage(text: string): string {
  try {
    const error = errorSchema.safeParse(JSON.parse(text));
    if (!error.success) return text;
    const { data } = error;
    if ("error" in data) {
      const inner = data.error;
      if (typeof inner === "string") return inner;
      if (typeof inner === "object" && inner !== null && "message" in inner)
        return `${String(inner.message)}${"code" in inner && typeof inner.code === "string" ? ` (${inner.code})` : ""}`;
    }
    return "message" in data ? String(data.message) : "detail" in data ? String(data.detail) : text;
  } catch {
    return text.startsWith("<") ? "" : text;
  }
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > 600 ? `${line.slice(0, 600)}…` : line;
}

/** Seconds or an HTTP date; null when absent or neither. */
function readRetryAfter(value: string | null, now: number): number | null {
  if (value === null) return null;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const date = Date.parse(value);
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}

/** Window and prompt size, when an overflow is about the answer's share only: asking for less will do. */
export function readOverflow(message: string): { readonly window: number; readonly prompt: number } | null {
  const window = /maximum context length (?:is|of) (\d+)/i.exec(message)?.[1];
  const prompt =
    /(\d+) (?:in the|tokens from the input) messages/i.exec(message)?.[1] ??
    /(?:has|contains|with) (?:at least )?(\d+) input tokens/i.exec(message)?.[1];
  if (window === undefined || prompt === undefined) return null;
  return { window: Number(window), prompt: Number(prompt) };
}
