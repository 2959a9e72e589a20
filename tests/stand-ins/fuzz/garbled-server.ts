/** A server whose replies are garbled: spoilt JSON and events, cuts, resets, wrong kinds of content, errors that say nothing. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createRandom, pick, type Random } from "../random.ts";
import { below, spoiltBytes, spoiltJson } from "./mutate.ts";
import { wholeReplies } from "./upstream-kinds.ts";

export interface GarbledServer {
  /** Base address whose replies follow from `seed`. */
  url(seed: number): string;
  close(): Promise<void>;
}

export async function startGarbledServer(): Promise<GarbledServer> {
  /** Requests so far, by address: each gets another reply, in the same order every time. */
  const asked = new Map<string, number>();
  const server = createServer((request, response) => {
    request.resume();
    request.once("end", () => {
      const [, seed = "0"] = /^\/(\d+)\//.exec(request.url ?? "") ?? [];
      const number = asked.get(seed) ?? 0;
      asked.set(seed, number + 1);
      reply(createRandom(Number(seed) * 31 + number), request, response);
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  return {
    url: (seed) => `http://127.0.0.1:${port}/${seed}`,
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

function reply(random: Random, request: IncomingMessage, response: ServerResponse): void {
  const path = request.url?.split("?", 1)[0] ?? "";
  const whole = wholeReplies.find((candidate) => path.endsWith(candidate.path));
  if (whole === undefined) {
    response.writeHead(404, { "content-type": "application/json" }).end('{"error":{"message":"not found"}}');
    return;
  }
  // What a server lists is asked once and kept: mostly it is well, so that the rest is reached.
  const streams = whole.pieces !== undefined && random() < 0.4;
  const isWell = random() < (request.method === "GET" ? 0.85 : 0.1);
  const type = streams && whole.form !== "lines" ? "text/event-stream" : "application/json";
  if (isWell)
    send(response, 200, type, Buffer.from(streams ? streamText(random, whole.pieces ?? [], whole.form, false) : JSON.stringify(whole.body)));
  else if (random() < 0.25 && request.method !== "GET") misbehave(random, response, Buffer.from(JSON.stringify(whole.body)));
  else {
    const text = streams ? streamText(random, whole.pieces ?? [], whole.form, true) : spoiltJson(random, whole.body);
    const bytes = random() < 0.35 ? spoiltBytes(random, Buffer.from(text)) : Buffer.from(text);
    send(response, 200, random() < 0.1 ? pick(random, ["text/html", "", "text/event-stream", "application/json; charset=latin1"]) : type, bytes);
  }
}

/** Whole, or with pieces spoilt, left out, doubled and moved, under any line end. */
function streamText(random: Random, pieces: readonly unknown[], form: string | undefined, spoilt: boolean): string {
  const line = pick(random, ["\n", "\n", "\r\n", "\r"]);
  const texts = pieces.flatMap((piece) => {
    const text = typeof piece === "string" ? piece : JSON.stringify(piece);
    if (!spoilt || random() < 0.7) return [text];
    return pick(random, [() => [], () => [text, text], () => [spoiltJson(random, piece)], () => ["{", text], () => [`${text}${text}`]])();
  });
  if (spoilt && random() < 0.2) texts.sort(() => random() - 0.5);
  if (spoilt && random() < 0.3) texts.splice(below(random, texts.length + 1));
  if (form === "lines") return texts.map((text) => `${text}\n`).join("");
  const named = (text: string): string => (form === "named sse" ? `event: ${/"type":"(\w+)"/.exec(text)?.[1] ?? "ping"}${line}` : "");
  return texts.map((text) => `${random() < 0.1 ? `: comment${line}` : ""}${named(text)}data: ${text}${line}${line}`).join("");
}

function send(response: ServerResponse, status: number, type: string, bytes: Uint8Array): void {
  response.writeHead(status, { ...(type === "" ? {} : { "content-type": type }), "content-length": bytes.length });
  response.end(bytes);
}

function misbehave(random: Random, response: ServerResponse, bytes: Uint8Array): void {
  const { socket } = response;
  const text = Buffer.from(bytes).toString();
  pick(random, [
    () => socket?.destroy(),
    () => socket?.end("HTTP/1.1 200 OK\r\ncontent-length: 99999\r\n\r\n{"),
    () => socket?.end(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n10\r\n${text.slice(0, 16)}\r\nzz\r\n`),
    () => socket?.end("\u0016\u0003\u0001 no HTTP at all"),
    () => socket?.end(`HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nx: ${"y".repeat(20_000)}\r\n\r\n${text}`),
    () => response.writeHead(204).end(),
    () => response.writeHead(302, { location: "http://127.0.0.1:1/" }).end(),
    () => response.writeHead(200, { "content-encoding": "gzip", "content-type": "application/json" }).end(bytes),
    () => response.writeHead(429, { "retry-after": pick(random, ["1", "-5", "banana", "1e9", "Wed, 21 Oct 2099 07:28:00 GMT"]) }).end("slow down"),
    () =>
      response
        .writeHead(pick(random, [400, 401, 403, 404, 418, 500, 502, 503, 529, 599]), { "content-type": "application/json" })
        .end(spoiltJson(random, { error: { message: "no", code: 400 } })),
    () => response.writeHead(400).end('{"object":"error","message":"This model\'s maximum context length is 5 tokens."}'),
    () => response.writeHead(500, { "content-type": "text/html" }).end("<html><body>Bad gateway</body></html>"),
    () => response.writeHead(200).end(),
    // Nothing comes: the call's own budget ends it.
    () => (random() < 0.2 ? undefined : socket?.destroy()),
  ])();
}
