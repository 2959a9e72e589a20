/**
 * A stand-in for an OpenAI-compatible server that does what a test tells it, request by request: answers, refuses, waits, cuts or
 * babbles. Keeps what it was sent.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type Behaviour =
  | { readonly do: "say"; readonly text: string; readonly delayMs?: number }
  | { readonly do: "body"; readonly body: string; readonly contentType?: string }
  | { readonly do: "refuse"; readonly status: number; readonly body?: string; readonly headers?: Readonly<Record<string, string>> }
  /** Pieces of text as a stream, with a moment between them; then it ends as it should, is cut, or goes on for ever. */
  | { readonly do: "stream"; readonly pieces: readonly string[]; readonly ending: "end" | "cut" | "hang"; readonly everyMs?: number }
  | { readonly do: "cut" }
  | { readonly do: "hang" };

export interface ChatServer {
  readonly url: string;
  readonly requests: { readonly path: string; readonly headers: IncomingMessage["headers"]; readonly body: string }[];
  /** Requests whose connection the other side closed before the answer. */
  readonly abandoned: string[];
  close(): Promise<void>;
}

/** `behave` gets the number of the POST, from 0, and its body. */
export async function startChatServer(behave: (index: number, body: string) => Behaviour): Promise<ChatServer> {
  const requests: ChatServer["requests"] = [];
  const abandoned: string[] = [];
  const server: Server = createServer((request, response) => {
    const chunks: Uint8Array[] = [];
    request.on("data", (chunk: Uint8Array) => chunks.push(chunk));
    request.on("end", () => {
      if (request.method === "GET") {
        json(response, 200, { object: "list", data: [{ id: "stand-in", object: "model", owned_by: "test" }] });
        return;
      }
      const body = Buffer.concat(chunks).toString();
      const index = requests.push({ path: request.url ?? "", headers: request.headers, body }) - 1;
      response.once("close", () => {
        if (!response.writableFinished) abandoned.push(body);
      });
      act(behave(index, body), request, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    abandoned,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function act(behaviour: Behaviour, request: IncomingMessage, response: ServerResponse): void {
  switch (behaviour.do) {
    case "say":
      setTimeout(() => json(response, 200, completion(behaviour.text)), behaviour.delayMs ?? 0);
      return;
    case "body":
      response.writeHead(200, { "content-type": behaviour.contentType ?? "application/json" }).end(behaviour.body);
      return;
    case "refuse":
      response.writeHead(behaviour.status, { "content-type": "application/json", ...behaviour.headers });
      response.end(behaviour.body ?? '{"error":{"message":"no"}}');
      return;
    case "stream":
      stream(behaviour, request, response);
      return;
    case "cut":
      response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
      response.write('{"choices":[', () => request.socket.destroy());
      return;
    case "hang":
  }
}

async function stream(
  { pieces, ending, everyMs = 40 }: Extract<Behaviour, { do: "stream" }>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const write = (value: unknown): unknown => response.write(`data: ${typeof value === "string" ? value : JSON.stringify(value)}\n\n`);
  const chunk = (delta: object, finish: string | null = null) => ({ model: "stand-in", choices: [{ index: 0, delta, finish_reason: finish }] });
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const content of pieces) {
    write(chunk({ content }));
    await new Promise((done) => setTimeout(done, everyMs));
  }
  if (ending === "cut") request.socket.destroy();
  if (ending !== "end") return;
  write(chunk({}, "stop"));
  write({ choices: [], usage: { prompt_tokens: 11, completion_tokens: pieces.length } });
  write("[DONE]");
  response.end();
}

function completion(text: string) {
  return {
    id: "c",
    object: "chat.completion",
    model: "stand-in",
    choices: [{ index: 0, message: { role: "assistant", content: text }, finish_reason: "stop" }],
    usage: { prompt_tokens: 11, completion_tokens: 3, total_tokens: 14 },
  };
}

function json(response: ServerResponse, status: number, value: unknown): void {
  if (!response.destroyed) response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
}
