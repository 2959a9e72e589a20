/**
 * A stand-in for an OpenAI-compatible server that does what a test tells it, request by request: answers, refuses, waits, cuts or
 * babbles. Keeps what it was sent. It streams in the form of the path that it is asked at: as Anthropic's and Ollama's servers do, too.
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

/** A server's stream: its content type, the text of one piece, and what it begins and ends with. */
interface StreamForm {
  readonly type: string;
  readonly start?: string;
  piece(text: string): string;
  end(pieces: number): string;
}

const event = (data: unknown): string => `data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
const named = (type: string, data: object = {}): string => `event: ${type}\n${event({ type, ...data })}`;
const chunk = (delta: object, finish: string | null = null) => ({ model: "stand-in", choices: [{ index: 0, delta, finish_reason: finish }] });

const streamForms: Readonly<Record<string, StreamForm>> = {
  "/v1/chat/completions": {
    type: "text/event-stream",
    piece: (content) => event(chunk({ content })),
    end: (pieces) => event(chunk({}, "stop")) + event({ choices: [], usage: { prompt_tokens: 11, completion_tokens: pieces } }) + event("[DONE]"),
  },
  "/v1/messages": {
    type: "text/event-stream; charset=utf-8",
    start:
      named("message_start", { message: { model: "stand-in", usage: { input_tokens: 11, output_tokens: 1 } } }) +
      named("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
    piece: (text) => named("content_block_delta", { index: 0, delta: { type: "text_delta", text } }),
    end: (pieces) =>
      named("content_block_stop", { index: 0 }) +
      named("message_delta", { delta: { stop_reason: "end_turn" }, usage: { output_tokens: pieces } }) +
      named("message_stop"),
  },
  "/api/chat": {
    type: "application/x-ndjson",
    piece: (content) => `${JSON.stringify({ model: "stand-in", message: { role: "assistant", content }, done: false })}\n`,
    end: (pieces) =>
      `${JSON.stringify({ model: "stand-in", message: { content: "" }, done: true, done_reason: "stop", prompt_eval_count: 11, eval_count: pieces })}\n`,
  },
};

async function stream(
  { pieces, ending, everyMs = 40 }: Extract<Behaviour, { do: "stream" }>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const form = streamForms[request.url ?? ""];
  if (form === undefined) throw new Error(`nothing streams at ${request.url}`);
  response.writeHead(200, { "content-type": form.type });
  response.write(form.start ?? "");
  for (const text of pieces) {
    response.write(form.piece(text));
    await new Promise((done) => setTimeout(done, everyMs));
  }
  if (ending === "cut") request.socket.destroy();
  if (ending === "end") response.end(form.end(pieces.length));
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
