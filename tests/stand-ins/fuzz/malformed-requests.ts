/** One HTTP request to a session of the proxy, wrong in some way: in its JSON, its bytes, its encoding, its path, its method, its framing. */
import { brotliCompressSync, gzipSync } from "node:zlib";
import { pick, type Random } from "../random.ts";
import { type BrokenHttp, brokenHttp } from "./malformed-http.ts";
import { below, spoiltBytes, spoiltJson } from "./mutate.ts";
import { chatBody, type FuzzDialect, geminiBody, messagesBody, responsesBody } from "./request-bodies.ts";

export interface FuzzRequest {
  /** For reports. */
  readonly what: string;
  /** The whole request as it goes over the connection. */
  readonly bytes: Uint8Array;
  /** Whose form an error must have. */
  readonly dialect: FuzzDialect;
  readonly asks: "answer" | "count" | "models" | "other";
  /** As of BrokenHttp. */
  readonly form: BrokenHttp["form"];
  readonly ends: boolean;
  /** The client goes away: `after` so many milliseconds; null = it waits for the reply. */
  readonly leavesAfterMs: number | null;
}

export interface FuzzTarget {
  /** `/r/…` */
  readonly path: string;
  readonly key: string;
}

interface Route {
  readonly dialect: FuzzDialect;
  readonly asks: FuzzRequest["asks"];
  readonly path: string;
  readonly body: object | null;
}

const routes: readonly Route[] = [
  { dialect: "chat", asks: "answer", path: "/v1/chat/completions", body: chatBody },
  { dialect: "responses", asks: "answer", path: "/v1/responses", body: responsesBody },
  { dialect: "messages", asks: "answer", path: "/v1/messages", body: messagesBody },
  { dialect: "gemini", asks: "answer", path: "/v1beta/models/m:streamGenerateContent?alt=sse", body: geminiBody },
  { dialect: "gemini", asks: "answer", path: "/v1beta/models/m:generateContent", body: geminiBody },
  { dialect: "messages", asks: "count", path: "/v1/messages/count_tokens", body: messagesBody },
  { dialect: "gemini", asks: "count", path: "/v1beta/models/m:countTokens", body: geminiBody },
  { dialect: "chat", asks: "models", path: "/v1/models", body: null },
];

/** Nearly half of them are spoilt JSON, the rest everything else. */
export function malformedRequest(random: Random, target: FuzzTarget): FuzzRequest {
  const route = pick(random, routes);
  const plain = route.body === null ? "" : JSON.stringify(random() < 0.5 ? route.body : { ...route.body, stream: false });
  const made = { dialect: route.dialect, asks: route.asks, form: "dialect", ends: false, leavesAfterMs: null } as const;
  const send = (over: Partial<HttpRequest>): Uint8Array =>
    httpRequest({
      method: route.body === null ? "GET" : "POST",
      path: target.path + route.path,
      key: target.key,
      headers: [],
      body: Buffer.from(plain),
      ...over,
    });
  const share = random();
  if (share < 0.44 && route.body !== null)
    return { ...made, what: `${route.path}: spoilt JSON`, bytes: send({ body: Buffer.from(spoiltJson(random, JSON.parse(plain))) }) };
  if (share < 0.59) return { ...made, what: `${route.path}: spoilt bytes`, bytes: send({ body: spoiltBytes(random, Buffer.from(plain)) }) };
  if (share < 0.66) return { ...made, what: `${route.path}: encoding`, bytes: send(spoiltEncoding(random, plain)) };
  if (share < 0.72) {
    const path = spoiltPath(random, target.path + route.path);
    return { ...made, what: `path ${path}`, dialect: dialectOfPath(path), asks: "other", bytes: send({ path }) };
  }
  if (share < 0.76) {
    const method = pick(random, ["GET", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD", "TRACE"]);
    return { ...made, what: `${method} ${route.path}`, asks: "other", form: method === "HEAD" ? "none" : "dialect", bytes: send({ method }) };
  }
  if (share < 0.8) {
    const key = pick(random, ["", "wrong", `${target.key}x`, target.key.slice(0, -1), "\u00e9", `${target.key} ${target.key}`]);
    return { ...made, what: `${route.path}: key`, asks: "other", bytes: send({ key }) };
  }
  if (share < 0.85) return { ...made, what: `${route.path}: leaves`, bytes: send({}), leavesAfterMs: below(random, 12) };
  return { ...made, what: `${route.path}: framing`, asks: "other", ...brokenHttp(random, send({})) };
}

interface HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly key: string;
  readonly headers: readonly string[];
  readonly body: Uint8Array;
}

function httpRequest({ method, path, key, headers, body }: HttpRequest): Uint8Array {
  const head = [
    `${method} ${path} HTTP/1.1`,
    ...["host: proxy", "connection: close", `authorization: Bearer ${key}`, "content-type: application/json", `content-length: ${body.length}`],
    ...headers,
  ];
  return Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`, "latin1"), body]);
}

function spoiltEncoding(random: Random, text: string): Pick<HttpRequest, "headers" | "body"> {
  const [name, packed] = pick(random, [
    ["gzip", gzipSync(text)],
    ["br", brotliCompressSync(text)],
    ["deflate", gzipSync(text)],
    ["zstd", Buffer.from([0x28, 0xb5, 0x2f, 0xfd, ...Buffer.from(text.slice(0, 200))])],
    ["gzip, gzip", gzipSync(text)],
    ["gzip, br", brotliCompressSync(gzipSync(text))],
    ["snappy", Buffer.from(text)],
    [",,identity,", Buffer.from(text)],
  ] as const);
  const body = random() < 0.7 ? spoiltBytes(random, packed) : packed;
  return { headers: [`content-encoding: ${name}`], body };
}

function spoiltPath(random: Random, path: string): string {
  const at = 1 + below(random, path.length);
  return pick(random, [
    () => path.slice(0, at),
    () => `${path.slice(0, at)}/${path.slice(at)}`,
    () => `${path.slice(0, at)}%zz${path.slice(at)}`,
    () => `${path.slice(0, at)}/../${path.slice(at)}`,
    () => `${path}/${"x".repeat(9000)}`,
    () => path.replace("/v1", "/v2"),
    () => path.replace("m:", ":"),
    () => `${path}?alt=sse&key=&key=other&alt=%00`,
    () => `//${path}`,
    () => "*",
  ])();
}

/** By the words that a path holds: the form that a client of it reads. */
function dialectOfPath(path: string): FuzzDialect {
  const plain = path.split("?", 1)[0] ?? "";
  if (/\/responses(\/|$)/.test(plain)) return "responses";
  if (/\/messages(\/|$)/.test(plain)) return "messages";
  return /\/models\/[^/]+:/.test(plain) ? "gemini" : "chat";
}
