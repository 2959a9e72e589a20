/**
 * What a connection is told whose bytes are no HTTP that can be read: an error in the form of the dialect that they still show, by
 * their path or their headers, else in OpenAI's, which most clients understand.
 */
import { type Server, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { dialects } from "../dialects/by-id.ts";
import type { Fault } from "../dialects/dialect.ts";
import { closeAfterReply } from "./exchange.ts";
import { breakBody } from "./read-body.ts";
import { errorDialectOf } from "./routes.ts";

/** As Node tells it: `rawPacket` is what was read last, `reason` the parser's words. */
interface ConnectionError extends Error {
  readonly code?: string;
  readonly reason?: string;
  readonly rawPacket?: Uint8Array;
}

/** How long a client that is still sending may read its error before the connection goes. */
const lingerMs = 1_000;
/** The request line and the headers that matter stand here, if anywhere. */
const shownBytes = 16_384;

/** Every way in which Node gives up a connection gets its reply. */
export function answerBrokenHttp(server: Server): void {
  server.on("clientError", (error: ConnectionError, socket: Socket) => {
    if (error.code === undefined || !/^(?:HPE_|ERR_HTTP_)/.test(error.code)) {
      socket.destroy();
      return;
    }
    const fault = faultOfParser(error);
    if (breakBody(socket, fault, error.code === "HPE_INVALID_EOF_STATE") || closeAfterReply(socket)) return;
    const { url, headers } = shownIn(error.rawPacket);
    reply(socket, fault, url, headers);
  });
  server.on("upgrade", ({ url = "", headers }, socket: Socket) => reply(socket, upgradeFault, url, headers, ["upgrade: HTTP/1.1"]));
  server.on("connect", ({ url = "", headers }, socket: Socket) => reply(socket, tunnelFault, url, headers));
  // What else a client may expect of us is in the reply.
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
}

function reply(socket: Socket, fault: Fault, url: string, headers: Readonly<Record<string, unknown>>, more: readonly string[] = []): void {
  // A socket that left HTTP has nobody who hears its errors, and nobody who takes what still comes.
  socket.on("error", () => undefined);
  socket.resume();
  if (!socket.writable) return;
  const body = Buffer.from(dialects[errorDialectOf(url, headers)].errorBody(fault));
  const head = [
    `HTTP/1.1 ${fault.status} ${STATUS_CODES[fault.status]}`,
    ...["content-type: application/json", `content-length: ${body.length}`, "connection: close"],
    ...more,
  ];
  socket.end(Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`), body]));
  setTimeout(() => socket.destroy(), lingerMs).unref();
}

const invalid = { type: "invalid_request_error" } as const;

const upgradeFault: Fault = {
  ...{ status: 426, code: "upgrade_refused", ...invalid },
  message: "This address speaks HTTP/1.1 only: send the request without an Upgrade header.",
};
const tunnelFault: Fault = {
  ...{ status: 403, code: "route_not_allowed", type: "permission_error" },
  message: "This address is no proxy to other hosts: it answers the model calls of one rollout.",
};

function faultOfParser({ code, reason }: ConnectionError): Fault {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return {
        ...{ status: 431, code: "request_headers_too_large", ...invalid },
        message: "The headers of the request are larger than 64 KiB: send fewer or shorter ones.",
      };
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return { status: 413, code: "request_too_large", ...invalid, message: "The chunks of the body have too long extensions: send them without." };
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return { status: 408, code: "request_timeout", ...invalid, message: "The headers of the request did not come within 60 s: send it again." };
    case "HPE_INVALID_EOF_STATE":
      return {
        ...{ status: 400, code: "incomplete_request", ...invalid },
        message: "The connection ended before the request was whole: send it again, with the length that it has.",
      };
    default:
      return {
        ...{ status: 400, code: "malformed_http", ...invalid },
        message: `The request is no HTTP/1.1 that can be read${reason === undefined ? "" : ` (${reason})`}: look at the client, or at what stands between it and this address.`,
      };
  }
}

/** What can still be seen of a request: its target and its headers, names in lower case. */
function shownIn(packet: Uint8Array | undefined): { readonly url: string; readonly headers: Readonly<Record<string, string>> } {
  const text = Buffer.from((packet ?? new Uint8Array(0)).subarray(0, shownBytes)).toString("latin1");
  const [first = "", ...lines] = text.split(/\r?\n/);
  const end = lines.indexOf("");
  const named = (end === -1 ? lines : lines.slice(0, end)).flatMap((line): [string, string][] => {
    const colon = line.indexOf(":");
    return colon > 0 ? [[line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()]] : [];
  });
  return { url: /^\S+ +(\S+)/.exec(first)?.[1] ?? "", headers: Object.fromEntries(named) };
}
