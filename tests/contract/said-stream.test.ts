/** Answers of text-only servers go out to the harness as they come, and every word of them is recorded, however it ends. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { createUpstream, readCall } from "../../main/proxy/index.ts";
import { type Behaviour, type ChatServer, startChatServer } from "../stand-ins/chat-server.ts";
import { layProxyBed, type OpenBed, type ProxyBed } from "../stand-ins/proxy-bed.ts";

let bed: ProxyBed;
let server: ChatServer;
beforeEach(async () => {
  bed = await layProxyBed();
});
afterEach(async () => {
  await bed.close();
  await server.close();
});

type Opened = OpenBed & { close(): Promise<void> };

const kinds = ["openai-compatible", "anthropic-compatible", "ollama", "sglang"] as const;

async function open(kind: (typeof kinds)[number], behave: (index: number) => Behaviour, over: Parameters<ProxyBed["open"]>[1] = {}): Promise<Opened> {
  server = await startChatServer(behave);
  const messageRules = { developer: "system", mergeSystem: true, mergeUser: false } as const;
  const upstream = await createUpstream(
    { kind, id: "teacher", url: server.url, messageRules },
    { env: {}, policiesFolder: "", media: { put: (bytes) => bed.store.blobs.put(bytes).hash, get: bed.store.blobs.get } },
  );
  const opened = await bed.open(upstream, over);
  return { ...opened, close: () => opened.session.close() };
}

const pieces = ["The first word, ", "据 and the second", "."];
const hello = { model: "m", stream: true, messages: [{ role: "user", content: "hello" }] };
const asked = {
  chat: ["/chat/completions", hello],
  responses: ["/responses", { model: "m", input: "hello", stream: true }],
  messages: ["/messages", { ...hello, max_tokens: 99 }],
  gemini: ["/models/m:streamGenerateContent?alt=sse", { contents: [{ role: "user", parts: [{ text: "hello" }] }] }],
} as const;

/** What was delivered, by the store's account: whole bodies, and the words that were journalled. */
function recordOf(rolloutId: string) {
  const calls = bed.store.callsOf(rolloutId);
  const [call] = calls;
  const body = call?.responseBody == null ? "" : Buffer.from(bed.store.blobs.get(call.responseBody) ?? []).toString();
  const said = bed.store.eventsAfter(0, 1000, { rolloutId }).filter(({ type }) => type === "call.said");
  const words = said.map(({ payload }) => (JSON.parse(payload) as { text: string }).text).join("");
  return { calls, call, body, words };
}

const everyWay = kinds.flatMap((kind) => Object.entries(asked).map(([dialect, request]) => [kind, dialect, request] as const));

test.each(everyWay)("the words of %s go out in %s before the answer is whole, and once", async (kind, _dialect, [path, body]) => {
  const { post, rolloutId, close } = await open(kind, () => ({ do: "stream", pieces, ending: "end", everyMs: 120 }));
  const response = await post(path, body);
  let text = "";
  let early = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    if (early === "" && text.includes("The first word")) early = text;
  }
  expect(early).not.toContain("second");
  expect(JSON.parse(server.requests[0]?.body ?? "{}")).toMatchObject({ stream: true });
  await close();
  const { calls, call, body: recorded, words } = recordOf(rolloutId);
  expect(calls).toHaveLength(1);
  expect(call).toMatchObject({ status: "ok", capture: "text-only", promptTokens: 11, completionTokens: 3 });
  expect(recorded).toBe(text);
  expect(words).toBe(pieces.join(""));
  expect(call === undefined ? null : readCall(bed.store, call).answer).toMatchObject({
    message: { content: [{ text: pieces.join("") }] },
    finishReason: "stop",
  });
  expect(await bed.store.check()).toEqual([]);
});

test.each(kinds)("a server (%s) that breaks off is not asked again: the client is told, and what it got is recorded", async (kind) => {
  const { post, rolloutId, close } = await open(kind, () => ({ do: "stream", pieces, ending: "cut" }));
  const text = await (await post("/chat/completions", hello)).text();
  expect(text).toContain("and the second");
  expect(text).toContain('"error"');
  expect(text).not.toContain("[DONE]");
  await close();
  expect(server.requests).toHaveLength(1);
  const { call, body, words } = recordOf(rolloutId);
  expect(call).toMatchObject({ status: "error", httpStatus: 502, upstreamRetries: 0 });
  expect(body).toBe(text);
  expect(words).toBe(pieces.join(""));
});

test.each(kinds)("a server (%s) that breaks off before its first word is asked again", async (kind) => {
  const { post } = await open(kind, (index) => (index === 0 ? { do: "cut" } : { do: "stream", pieces, ending: "end" }));
  expect(await (await post("/chat/completions", hello)).text()).toContain("[DONE]");
  expect(server.requests).toHaveLength(2);
});

test.each(kinds)("a client that leaves %s is an abort: the server is let go, and what went out is recorded", async (kind) => {
  const quirks = { sessionHeaders: [], volatileFields: [], keepaliveComments: true, returnsForAnswer: false };
  const { post, rolloutId, close } = await open(kind, () => ({ do: "stream", pieces, ending: "hang" }), { quirks });
  const response = await post("/chat/completions", hello);
  const reader = response.body?.getReader();
  let text = "";
  while (!text.includes("and the second")) text += Buffer.from((await reader?.read())?.value ?? []).toString();
  await reader?.cancel();
  await expect.poll(() => server.abandoned.length, { timeout: 5_000 }).toBe(1);
  await close();
  const { call, body } = recordOf(rolloutId);
  expect(call).toMatchObject({ status: "aborted", aborted: true });
  expect(body.startsWith(text)).toBe(true);
  expect(body).not.toContain('"error"');
});

test("where a secret could come in pieces, and where nobody streams, answers go out whole", async () => {
  const { post, rolloutId } = await open("openai-compatible", () => ({ do: "say", text: "whole" }), {
    secrets: [{ name: "TOKEN", value: "s3cret-value" }],
  });
  expect(await (await post("/chat/completions", hello)).text()).toContain("whole");
  expect(await (await post("/chat/completions", { ...hello, stream: false })).text()).toContain("whole");
  expect(server.requests.map(({ body }) => (JSON.parse(body) as { stream: boolean }).stream)).toEqual([false, false]);
  expect(recordOf(rolloutId).words).toBe("");
});
