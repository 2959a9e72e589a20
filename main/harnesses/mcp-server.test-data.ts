/**
 * A small MCP server over HTTP: Streamable HTTP at /mcp (calls are answered by a stream of events, all else by JSON), the older transport with
 * one stream at /sse. Its one tool, `weigh`, tells what everything weighs.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface McpStandIn {
  readonly url: string;
  /** Methods of JSON-RPC and what was weighed, in order. */
  readonly heard: readonly string[];
  close(): void;
}

interface Message {
  readonly id?: number;
  readonly method: string;
  readonly params?: { readonly protocolVersion?: string; readonly arguments?: { readonly thing: string } };
}

/** Whoever does not say the key in `x-lab-key` is refused. */
export async function startMcpStandIn(key: string): Promise<McpStandIn> {
  const heard: string[] = [];
  const streams: ServerResponse[] = [];
  const answer = ({ method, params, id }: Message): string => {
    heard.push(params?.arguments === undefined ? method : `${method} ${params.arguments.thing}`);
    const serverInfo = { name: "lab", version: "1" };
    const results: Record<string, unknown> = {
      initialize: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo },
      "tools/list": { tools: [{ name: "weigh", inputSchema: { type: "object", properties: { thing: { type: "string" } } } }] },
      "tools/call": { content: [{ type: "text", text: "It weighs 4217 g." }] },
    };
    return JSON.stringify({ jsonrpc: "2.0", id, result: results[method] ?? {} });
  };
  const server = createServer(async (request, response) => {
    const text = await bodyOf(request);
    const stop = (status: number, words = ""): void => void response.writeHead(status).end(words);
    if (request.headers["x-lab-key"] !== key) return stop(401, "no key");
    if (request.method === "GET" && request.url === "/sse") {
      streams.push(response);
      return void response
        .writeHead(200, { "content-type": "text/event-stream" })
        .write(`event: endpoint\r\ndata: /messages/${streams.length}\r\n\r\n`);
    }
    if (request.method !== "POST") return stop(405);
    const message = JSON.parse(text) as Message;
    const said = answer(message);
    const stream = streams[Number(/^\/messages\/(\d+)$/.exec(request.url ?? "")?.[1]) - 1];
    if (stream !== undefined) {
      if (message.id !== undefined) stream.write(`: a comment\ndata: ${said}\n\n`);
      return stop(202);
    }
    if (message.method !== "initialize" && request.headers["mcp-session-id"] !== "s-1") return stop(400, "no session");
    if (message.id === undefined) return stop(202);
    if (message.method === "tools/call") {
      return void response.writeHead(200, { "content-type": "text/event-stream" }).end(`: working\n\nevent: message\ndata: ${said}\n\n`);
    }
    response.writeHead(200, { "content-type": "application/json", "mcp-session-id": "s-1" }).end(said);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    heard,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request) text += chunk;
  return text;
}
