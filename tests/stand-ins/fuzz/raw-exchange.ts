/** One request over a connection of its own, byte for byte as given, and what came back. `ends`: the server is told that nothing follows. */
import { connect } from "node:net";

export interface RawReply {
  /** null = nothing that is HTTP. */
  readonly status: number | null;
  readonly contentType: string;
  readonly body: string;
  /** `left`: we closed it ourselves; `hung`: nothing ended it in time. */
  readonly ended: "closed" | "left" | "hung";
}

export function exchangeRaw(
  address: string,
  bytes: Uint8Array,
  options: { readonly leavesAfterMs: number | null; readonly withinMs: number; readonly ends: boolean },
): Promise<RawReply> {
  const [host = "", port] = address.split(":");
  return new Promise((resolve) => {
    const chunks: Uint8Array[] = [];
    let ended: RawReply["ended"] = "closed";
    const socket = connect(Number(port), host);
    const leave = (why: "left" | "hung", ms: number): NodeJS.Timeout =>
      setTimeout(() => {
        ended = why;
        socket.destroy();
      }, ms);
    const timers = [leave("hung", options.withinMs), ...(options.leavesAfterMs === null ? [] : [leave("left", options.leavesAfterMs)])];
    socket.on("data", (chunk: Uint8Array) => chunks.push(chunk));
    // A server that refuses early may reset what is still being sent; what it said before counts.
    socket.on("error", () => undefined);
    socket.once("close", () => {
      for (const timer of timers) clearTimeout(timer);
      resolve({ ...parsed(Buffer.concat(chunks)), ended });
    });
    if (options.ends) socket.end(bytes);
    else socket.write(bytes);
  });
}

/** The first response that is no interim one; what may follow it on the connection is left. */
function parsed(bytes: Buffer): Omit<RawReply, "ended"> {
  const end = bytes.indexOf("\r\n\r\n");
  const head = bytes.subarray(0, Math.max(0, end)).toString("latin1");
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? Number.NaN);
  if (end < 0 || Number.isNaN(status)) return { status: null, contentType: "", body: bytes.toString("latin1") };
  const rest = bytes.subarray(end + 4);
  if (status < 200) return parsed(rest);
  const contentType = /^content-type: *(.*)$/im.exec(head)?.[1]?.trim() ?? "";
  const length = /^content-length: *(\d+)/im.exec(head)?.[1];
  const isChunked = /^transfer-encoding: *chunked/im.test(head);
  return {
    status,
    contentType,
    body: (isChunked ? dechunked(rest) : rest.subarray(0, length === undefined ? rest.length : Number(length))).toString(),
  };
}

function dechunked(bytes: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const line = bytes.indexOf("\r\n", at);
    if (line < 0) break;
    const length = Number.parseInt(bytes.subarray(at, line).toString("latin1"), 16);
    if (!(length > 0)) break;
    parts.push(bytes.subarray(line + 2, line + 2 + length));
    at = line + 2 + length + 2;
  }
  return Buffer.concat(parts);
}
