/** A stand-in for any HTTP server: each POST is answered by what a test says, by its path; keeps what it was sent. */
import { json, startJsonServer } from "./json-server.ts";

export interface ScriptedReply {
  readonly status?: number;
  /** A text goes out as it is, anything else as JSON. */
  readonly body: unknown;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ScriptedHttp {
  readonly url: string;
  /** POSTs, their bodies as JSON. */
  readonly requests: { readonly path: string; readonly body: unknown; readonly headers: Readonly<Record<string, unknown>> }[];
  close(): Promise<void>;
}

/** `get`: what GETs of a path are answered with; 404 for others. `post` gets the path and the number of the POST, from 0. */
export async function startScriptedHttp(
  get: Readonly<Record<string, unknown>>,
  post: (path: string, index: number) => ScriptedReply,
): Promise<ScriptedHttp> {
  const requests: ScriptedHttp["requests"] = [];
  const server = await startJsonServer((path, text, response) => {
    if (response.req.method === "GET") {
      json(response, path in get ? 200 : 404, path in get ? get[path] : { error: "not found" });
      return;
    }
    const { status = 200, body, contentType, headers } = post(path, requests.length);
    requests.push({ path, body: JSON.parse(text) as unknown, headers: response.req.headers });
    response.writeHead(status, { "content-type": contentType ?? "application/json", ...headers });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  });
  return { ...server, requests };
}
