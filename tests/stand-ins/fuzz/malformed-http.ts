/** Ways to break a request's HTTP as it goes over the connection: its first line, its headers, its length, its chunks. */
import { pick, type Random } from "../random.ts";
import { below, spoiltBytes } from "./mutate.ts";

export interface BrokenHttp {
  readonly bytes: Uint8Array;
  /** What an error has the form of: the dialect that the path shows; any, where it shows none; nothing, where nothing was asked. */
  readonly form: "dialect" | "any" | "none";
  /** The client says that nothing follows, and may get no reply; else it waits for one with its side open. */
  readonly ends: boolean;
}

/** `request`: a whole one, with a content-length and a body. */
export function brokenHttp(random: Random, request: Uint8Array): BrokenHttp {
  const text = Buffer.from(request).toString("latin1");
  const ends = random() < 0.2;
  const shown = (spoilt: string, over: Partial<BrokenHttp> = {}): BrokenHttp => ({
    bytes: Buffer.from(spoilt, "latin1"),
    form: "dialect",
    ends,
    ...over,
  });
  const hidden = (bytes: Uint8Array): BrokenHttp => ({ bytes, form: bytes.length === 0 ? "none" : "any", ends: true });
  const withLength = (length: string): string => text.replace(/content-length: \d+/, `content-length: ${length}`);
  const length = Number(/content-length: (\d+)/.exec(text)?.[1]);
  const chunked = text.replace(/content-length: \d+/, "transfer-encoding: chunked");
  const head = chunked.slice(0, chunked.indexOf("\r\n\r\n") + 4);
  const body = text.slice(text.indexOf("\r\n\r\n") + 4);
  return pick(random, [
    () => cut(request, below(random, request.length)),
    () => shown(withLength(String(length + 1 + below(random, 4000)))),
    () => shown(withLength(String(below(random, length + 1)))),
    () => shown(withLength(pick(random, ["-1", "1e3", "x", "99999999999", "0x10", "1, 2"]))),
    () => shown(text.replace(/(content-length: \d+)/, pick(random, ["$1\r\ncontent-length: 1", "$1\r\ntransfer-encoding: chunked", "$1, 7"]))),
    () => shown(chunked),
    () => shown(`${head}${pick(random, ["fffffff0", "-1", "", "g", "5;ext=\u0000", "5 5"])}\r\n${body}\r\n0\r\n\r\n`),
    // A chunk that is longer than it says, or never the last.
    () => shown(`${head}5\r\n${body}\r\n0\r\n\r\n`),
    () => shown(`${head}${body.length.toString(16)}\r\n${body}\r\n`),
    () => shown(text.replace(" HTTP/1.1", pick(random, ["", " HTTP/9.9", " HTTP/1.1 x", " http/1.1"])), { form: "any", ends: true }),
    () => shown(text.replace(/^\S+/, pick(random, ["BREW", "post", "P\u00d6ST", "POST ", "\u0000", "PRI"])), { form: "any", ends: true }),
    () => shown(text.replace("\r\n", `\r\nx-long: ${"y".repeat(70_000)}\r\n`), { form: "any", ends: false }),
    () => shown(text.replace("\r\n", `\r\n${"x-many: y\r\n".repeat(300)}`)),
    () =>
      shown(
        text.replace("\r\n", pick(random, ["\r\nno colon here\r\n", "\r\n: no name\r\n", "\r\nx : y\r\n", "\r\nx: \u0000\r\n", "\r\n folded\r\n"])),
      ),
    () => shown(text.replaceAll("\r\n", pick(random, ["\n", "\r"])), { form: "any", ends: true }),
    () => shown(text.replace("host: proxy", "expect: 100-continue\r\nupgrade: websocket\r\nconnection: upgrade")),
    () => shown(text.replace("host: proxy\r\n", pick(random, ["", "expect: nothing\r\n", "host: a\r\nhost: b\r\n"]))),
    () => shown(text.replace(/ \//, " http://somewhere.example/")),
    () => shown(`CONNECT somewhere.example:443 HTTP/1.1\r\nhost: somewhere.example\r\n\r\n${body}`, { form: "any" }),
    // The first request has its reply, whatever comes behind it.
    () => shown(text.replace("connection: close\r\n", "") + pick(random, ["garbage", "\u0000\u0001", text.slice(4)]), { ends: false }),
    () => hidden(spoiltBytes(random, request.subarray(0, Math.min(request.length, 400)))),
    () => hidden(Uint8Array.from({ length: 1 + below(random, 600) }, () => below(random, 256))),
    // A client that speaks TLS, or HTTP/2.
    () => hidden(Buffer.from("16030100a5010000a10303", "hex")),
    () => hidden(Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")),
  ])();
}

function cut(request: Uint8Array, at: number): BrokenHttp {
  const isWholeHead = Buffer.from(request.subarray(0, at)).includes("\r\n\r\n");
  return { bytes: request.subarray(0, at), form: at === 0 ? "none" : isWholeHead ? "dialect" : "any", ends: true };
}
