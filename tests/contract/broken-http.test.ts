/** Requests whose HTTP is broken: each gets an error that its client can read, and the record says what was asked. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { createUpstream } from "../../main/proxy/index.ts";
import { type Behaviour, type ChatServer, startChatServer } from "../stand-ins/chat-server.ts";
import { FakeClock } from "../stand-ins/fake-clock.ts";
import { exchangeRaw, type RawReply } from "../stand-ins/fuzz/raw-exchange.ts";
import { faultOfReply } from "../stand-ins/fuzz/reply-form.ts";
import type { FuzzDialect } from "../stand-ins/fuzz/request-bodies.ts";
import { layProxyBed, type OpenBed, type ProxyBed } from "../stand-ins/proxy-bed.ts";

let clock: FakeClock;
let bed: ProxyBed;
let server: ChatServer;
let open: OpenBed;
let behave: Behaviour;

beforeEach(async () => {
  clock = new FakeClock();
  bed = await layProxyBed({ clock });
  behave = { do: "say", text: "well" };
  server = await startChatServer(() => behave);
  const messageRules = { developer: "system", mergeSystem: true, mergeUser: false } as const;
  const upstream = await createUpstream(
    { kind: "openai-compatible", id: "stand-in", url: server.url, messageRules },
    { env: {}, policiesFolder: "", media: { put: (bytes) => bed.store.blobs.put(bytes).hash, get: bed.store.blobs.get } },
  );
  open = await bed.open(upstream);
});
afterEach(async () => {
  await bed.close();
  await server.close();
});

const send = (text: string, ends = false): Promise<RawReply> =>
  exchangeRaw(bed.proxy.address, Buffer.from(text, "latin1"), { ends, leavesAfterMs: null, withinMs: 5_000 });
const head = (path: string, ...headers: readonly string[]): string =>
  `POST ${open.session.path}${path} HTTP/1.1\r\n${["host: proxy", `x-api-key: ${open.session.key}`, ...headers].join("\r\n")}\r\n\r\n`;
const hello = '{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hello"}]}';
const withBody = (path: string, length = hello.length): string => head(path, `content-length: ${length}`) + hello;
const recorded = () => bed.store.callsOf(open.rolloutId);

test.each<[string, () => string, number, FuzzDialect]>([
  ["a version that is none, at a path of Messages", () => withBody("/v1/messages").replace("HTTP/1.1", "HTTP/9.9"), 400, "messages"],
  ["a method that is none, at a path of Gemini", () => withBody("/v1beta/models/m:generateContent").replace("POST", "BREW"), 400, "gemini"],
  ["a header that is none, at a path of Chat", () => withBody("/v1/chat/completions").replace("host: proxy", "no colon"), 400, "chat"],
  ["no target, a header of Messages", () => "POST\r\nanthropic-version: 2023-06-01\r\n\r\n", 400, "messages"],
  ["lengths that disagree, at a path of Messages", () => head("/v1/messages", "content-length: 1", "transfer-encoding: chunked"), 400, "messages"],
  ["no HTTP at all", () => "\u0000\u0001\u0002", 400, "chat"],
  ["headers that are too large", () => head("/v1/chat/completions", `x: ${"y".repeat(70_000)}`), 431, "chat"],
  ["a web socket, at a path of Responses", () => head("/v1/responses", "upgrade: websocket", "connection: upgrade"), 426, "responses"],
  ["a tunnel", () => "CONNECT example.com:443 HTTP/1.1\r\nhost: example.com\r\n\r\n", 403, "chat"],
])("%s", async (_name, text, status, dialect) => {
  const reply = await send(text());
  expect(reply).toMatchObject({ status, ended: "closed", contentType: "application/json" });
  expect(faultOfReply(reply, dialect, "other")).toBeNull();
  expect(recorded()).toEqual([]);
});

test.each([
  ["no chunk where one is said to be", "zz\r\n"],
  ["a chunk that is longer than it says", "2\r\n{}{}\r\n0\r\n\r\n"],
])("a body of %s is refused in its dialect, and recorded as refused", async (_name, chunks) => {
  const reply = await send(head("/v1/messages", "transfer-encoding: chunked") + chunks);
  expect(reply).toMatchObject({ status: 400, ended: "closed" });
  expect(faultOfReply(reply, "messages", "other")).toBeNull();
  expect(reply.body).toContain("no HTTP/1.1 that can be read");
  expect(recorded()).toMatchObject([
    { status: "error", httpStatus: 400, dialect: "messages", promptTokens: 0, error: expect.stringContaining("HTTP/1.1") },
  ]);
});

test("a body that stops coming is given up after a minute", async () => {
  const reply = send(withBody("/v1/messages", 5_000));
  await expect.poll(() => clock.waiting()).toBeGreaterThan(0);
  clock.advance(60_000);
  expect(await reply).toMatchObject({ status: 408 });
  expect(faultOfReply(await reply, "messages", "other")).toBeNull();
  expect(recorded()).toMatchObject([{ status: "error", httpStatus: 408 }]);
});

test("a client that ends in the middle of its body is told so where it still reads; what never came whole is no call", async () => {
  const reply = await send(withBody("/v1/messages", 5_000), true);
  expect(reply).toMatchObject({ status: 400, ended: "closed" });
  expect(faultOfReply(reply, "messages", "other")).toBeNull();
  expect(recorded()).toEqual([]);
});

test("a request has its own reply whatever comes behind it", async () => {
  behave = { do: "say", text: "late", delayMs: 150 };
  const late = await send(`${withBody("/v1/chat/completions")}garbage`);
  expect(late).toMatchObject({ status: 200, ended: "closed", body: expect.stringContaining("late") });
  const short = await send(withBody("/v1/messages", 20));
  expect(short).toMatchObject({ status: 400, ended: "closed" });
  expect(faultOfReply(short, "messages", "other")).toBeNull();
  expect(recorded().map(({ httpStatus }) => httpStatus)).toEqual([200, 400]);
});

test("a whole address as target, no host and an expectation of its own are taken", async () => {
  const whole = withBody("/v1/chat/completions").replace("POST ", "POST http://somewhere.example").replace("host: proxy\r\n", "expect: much\r\n");
  expect(await send(whole.replace(" HTTP/1.1\r\n", " HTTP/1.1\r\nconnection: close\r\n"))).toMatchObject({ status: 200 });
  expect(recorded()).toMatchObject([{ status: "ok", path: `${open.session.path}/v1/chat/completions` }]);
});
