/** Model calls as an HTTP archive (HAR 1.2): what harness and proxy said to each other, readable in any browser's network panel. */
import type { BlobHash } from "../../engine/conversation/index.ts";
import type { CallRecord, RolloutRecord, Store } from "../store/index.ts";
import { writeLines } from "./destination.ts";

export interface HarSource {
  readonly store: Store;
  readonly rollouts: readonly RolloutRecord[];
  readonly version: string;
  report(line: string): void;
  readonly signal: AbortSignal;
}

/** Every attempt's calls, a page a rollout; written entry by entry. Resolves with the number of calls. */
export async function writeHar(source: HarSource, path: string): Promise<number> {
  const { rollouts, version } = source;
  let count = 0;
  async function* pieces(): AsyncGenerator<string> {
    const head = JSON.stringify({ version: "1.2", creator: { name: "OpenForge Workbench", version }, pages: rollouts.map(page) });
    yield `{"log":${head.slice(0, -1)},"entries":[`;
    for (const [index, rollout] of rollouts.entries()) {
      source.signal.throwIfAborted();
      for (const call of allCalls(source.store, rollout)) {
        yield `${count === 0 ? "" : ","}\n${JSON.stringify(entry(source.store, call))}`;
        count += 1;
      }
      source.report(`${index + 1} of ${rollouts.length} rollouts`);
    }
    yield "\n]}}\n";
  }
  await writeLines(path, pieces());
  return count;
}

function allCalls(store: Store, { id, attempts }: RolloutRecord): readonly CallRecord[] {
  return Array.from({ length: attempts + 1 }, (_, attempt) => store.callsOf(id, attempt)).flat();
}

function page(rollout: RolloutRecord) {
  const title = `${rollout.taskName}, ${rollout.harness}, ${rollout.policy}`;
  return { id: rollout.id, startedDateTime: new Date(rollout.startedAt ?? rollout.createdAt).toISOString(), title, pageTimings: {} };
}

/** A body that was never sent has size −1, as the format says. Fields with `_` are ours. */
function entry(store: Store, call: CallRecord) {
  const request = textOf(store, call.requestBody);
  const response = textOf(store, call.responseBody);
  const time = Math.max(0, call.endedAt - call.startedAt);
  const type = header(call.requestHeaders, "content-type") ?? "application/json";
  return {
    pageref: call.rolloutId,
    startedDateTime: new Date(call.startedAt).toISOString(),
    time,
    request: {
      method: call.method,
      url: `http://${header(call.requestHeaders, "host") ?? "127.0.0.1"}${call.path}`,
      httpVersion: "HTTP/1.1",
      cookies: [],
      headers: Object.entries(call.requestHeaders).map(([name, value]) => ({ name, value })),
      queryString: [],
      ...(request === null ? {} : { postData: { mimeType: type, text: request.text } }),
      headersSize: -1,
      bodySize: request?.bytes ?? -1,
    },
    response: {
      status: call.httpStatus,
      statusText: "",
      httpVersion: "HTTP/1.1",
      cookies: [],
      headers: [],
      content: { size: response?.bytes ?? 0, mimeType: call.stream ? "text/event-stream" : "application/json", text: response?.text ?? "" },
      redirectURL: "",
      headersSize: -1,
      bodySize: response?.bytes ?? -1,
    },
    cache: {},
    timings: { send: 0, wait: Math.min(time, call.upstreamMs), receive: Math.max(0, time - call.upstreamMs) },
    _call: {
      id: call.id,
      attempt: call.attempt,
      index: call.index,
      dialect: call.dialect,
      status: call.status,
      capture: call.capture,
      policyVersion: call.policyVersion,
      promptTokens: call.promptTokens,
      completionTokens: call.completionTokens,
      replays: call.replays,
      side: call.side,
      error: call.error,
    },
  };
}

function textOf(store: Store, hash: BlobHash | null): { readonly text: string; readonly bytes: number } | null {
  const bytes = hash === null ? null : store.blobs.get(hash);
  return bytes === null ? null : { text: new TextDecoder().decode(bytes), bytes: bytes.length };
}

function header(headers: Readonly<Record<string, string>>, name: string): string | null {
  const found = Object.entries(headers).find(([given]) => given.toLowerCase() === name);
  return found?.[1] ?? null;
}
