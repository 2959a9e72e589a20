/** Load over raw sockets, so that the client costs little: each stream sends its next request when the last is answered. */
import { connect } from "node:net";

export interface Target {
  readonly host: string;
  readonly port: number;
  /** By stream. */
  readonly path: (stream: number) => string;
  readonly key: (stream: number) => string;
}

export interface LoadResult {
  readonly calls: number;
  readonly seconds: number;
  /** Milliseconds of each call, sorted. */
  readonly latencies: Float64Array;
}

/** A request body of about `bytes` bytes in the form of an agent's: instructions, tools, turns; the last message names the call. */
export function agentBody(bytes: number, stream: number, call: number): string {
  const turn = (index: number) => [
    {
      role: "assistant",
      content: "I look at the next file.",
      tool_calls: [{ id: `call_${index}`, type: "function", function: { name: "bash", arguments: '{"command":"ls -la /app"}' } }],
    },
    { role: "tool", tool_call_id: `call_${index}`, content: "drwxr-xr-x 2 root root 4096 report.csv\n".repeat(12) },
  ];
  const tools = ["bash", "read", "edit", "write"].map((name) => ({
    type: "function",
    function: {
      name,
      description: "Does one thing in the workspace. ".repeat(8),
      parameters: { type: "object", properties: { command: { type: "string" }, limit: { type: "integer" } }, required: ["command"] },
    },
  }));
  const messages: unknown[] = [
    { role: "system", content: "You are an agent in a workspace.\n".repeat(90) },
    { role: "user", content: `Task ${stream}: tidy up the reports.` },
  ];
  const last = { role: "tool", tool_call_id: "call_last", content: `call ${call}` };
  const body = (): string => JSON.stringify({ model: "policy", messages: [...messages, last], tools, max_tokens: 1024, temperature: 1 });
  for (let index = 0; body().length < bytes; index += 1) messages.push(...turn(index));
  return body();
}

export async function load(target: Target, streams: number, seconds: number, bodyBytes: number): Promise<LoadResult> {
  const latencies: number[] = [];
  const end = performance.now() + seconds * 1000;
  const start = performance.now();
  await Promise.all(Array.from({ length: streams }, (_, stream) => runStream(target, stream, end, bodyBytes, latencies)));
  const elapsed = (performance.now() - start) / 1000;
  return { calls: latencies.length, seconds: elapsed, latencies: Float64Array.from(latencies).sort() };
}

function runStream(target: Target, stream: number, end: number, bodyBytes: number, latencies: number[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(target.port, target.host);
    socket.setNoDelay(true);
    const [before, after] = agentBody(bodyBytes, stream, 1_000_000).split("1000000");
    let call = 1_000_000;
    let sentAt = 0;
    let received = "";
    const send = (): void => {
      if (performance.now() >= end) {
        socket.end();
        resolve();
        return;
      }
      call += 1;
      const body = `${before}${call}${after}`;
      sentAt = performance.now();
      socket.write(
        `POST ${target.path(stream)} HTTP/1.1\r\nhost: ${target.host}\r\nauthorization: Bearer ${target.key(stream)}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      );
    };
    socket.on("data", (chunk) => {
      received += chunk.toString("latin1");
      const head = received.indexOf("\r\n\r\n");
      if (head < 0) return;
      const length = Number(/content-length: (\d+)/i.exec(received)?.[1] ?? 0);
      if (received.length < head + 4 + length) return;
      if (!received.startsWith("HTTP/1.1 200")) {
        reject(new Error(received.slice(0, 400)));
        socket.destroy();
        return;
      }
      received = "";
      latencies.push(performance.now() - sentAt);
      send();
    });
    socket.once("connect", send);
    socket.once("error", reject);
  });
}

export function percentile(sorted: Float64Array, share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
