/** An HTTP server for stand-ins: whole bodies in, JSON out. */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

interface JsonServer {
  readonly url: string;
  close(): Promise<void>;
}

/** `serve` gets the path with its query, and the body as text. */
export async function startJsonServer(serve: (path: string, text: string, response: ServerResponse) => void): Promise<JsonServer> {
  const server = createServer((request, response) => {
    const chunks: Uint8Array[] = [];
    request.on("data", (chunk: Uint8Array) => chunks.push(chunk));
    request.on("end", () => serve(request.url ?? "", Buffer.concat(chunks).toString(), response));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

/** Maps and big integers of our JSON reader are written as what they stand for. */
export function json(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(
    JSON.stringify(value, (_, item: unknown) => (typeof item === "bigint" ? Number(item) : item instanceof Map ? Object.fromEntries(item) : item)),
  );
}
