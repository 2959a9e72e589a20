/** The bytes of a request body: collected, and their declared encodings undone, both under one size limit. */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate, inflateRaw } from "node:zlib";
import { Decompress } from "fzstd";
import type { Clock } from "../contract.ts";
import type { Fault } from "../dialects/dialect.ts";

const bodyLimitBytes = 64 * 1024 * 1024;

/** A body that does not go on for so long is given up. */
const stallMs = 60_000;

export type BodyResult =
  | { readonly ok: true; readonly bytes: Uint8Array }
  /** `unread`: the rest of the body was not taken; the connection must not be used again. */
  | { readonly ok: false; readonly fault: Fault; readonly unread: boolean }
  /** The client ended the connection before the body was whole; where it did so by half, it can still be told `fault`. */
  | { readonly ok: false; readonly left: true; readonly fault: Fault | null };

const refusal = (status: number, code: string, message: string): Fault => ({ status, code, type: "invalid_request_error", message });
const tooLarge = (limit: number): Fault =>
  refusal(413, "request_too_large", `The request body is larger than ${Math.floor(limit / 1024 / 1024)} MiB: send less, or compress less.`);
const stalled = refusal(
  408,
  "request_timeout",
  `The body of the request did not go on for ${stallMs / 1000} s: send it again, with the length that it has.`,
);

export async function readBody(request: IncomingMessage, clock: Clock, limit = bodyLimitBytes): Promise<BodyResult> {
  if (Number(request.headers["content-length"] ?? 0) > limit) return { ok: false, fault: tooLarge(limit), unread: true };
  const collected = await collect(request, clock, limit);
  return collected.ok ? decodeBody(collected.bytes, String(request.headers["content-encoding"] ?? ""), limit) : collected;
}

/** Who waits for the rest of a body, by its connection. */
const waiting = new WeakMap<Socket, { readonly request: IncomingMessage; readonly tell: (result: BodyResult) => void }>();

/** What comes of a body can't be read as HTTP. False when none is being read on this connection. `ended`: nothing more comes at all. */
export function breakBody(socket: Socket, fault: Fault, ended: boolean): boolean {
  const reader = waiting.get(socket);
  if (reader === undefined || reader.request.complete) return false;
  reader.tell(ended ? { ok: false, left: true, fault } : { ok: false, fault, unread: true });
  return true;
}

function collect(request: IncomingMessage, clock: Clock, limit: number): Promise<BodyResult> {
  const { socket } = request;
  return new Promise((resolve) => {
    const chunks: Uint8Array[] = [];
    let size = 0;
    let stopWaiting = (): void => undefined;
    const tell = (result: BodyResult): void => {
      stopWaiting();
      waiting.delete(socket);
      resolve(result);
    };
    const giveUp = (fault: Fault): void => {
      request.pause();
      tell({ ok: false, fault, unread: true });
    };
    const wait = (): void => {
      stopWaiting();
      stopWaiting = clock.after(stallMs, () => giveUp(stalled));
    };
    wait();
    waiting.set(socket, { request, tell });
    request.on("data", (chunk: Uint8Array) => {
      size += chunk.length;
      if (size > limit) giveUp(tooLarge(limit));
      else {
        chunks.push(chunk);
        wait();
      }
    });
    request.once("end", () => tell({ ok: true, bytes: chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks) }));
    const gone = (): void => tell({ ok: false, left: true, fault: null });
    request.once("error", gone);
    request.once("close", gone);
  });
}

/** Undoes the encodings of `Content-Encoding`, last first. 415 = one that nobody here knows, 400 = broken, 413 = too large when undone. */
async function decodeBody(raw: Uint8Array, encodings: string, limit: number): Promise<BodyResult> {
  let bytes = raw;
  const names = encodings
    .toLowerCase()
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "" && name !== "identity");
  for (const name of names.toReversed()) {
    const decode = decoders[name];
    if (decode === undefined)
      return {
        ok: false,
        unread: false,
        fault: refusal(
          415,
          "unsupported_encoding",
          `The body is encoded as "${name}", which is not known here: send gzip, br, deflate, zstd or plain JSON.`,
        ),
      };
    try {
      bytes = await decode(bytes, limit);
    } catch (error) {
      if (error instanceof RangeError) return { ok: false, unread: false, fault: tooLarge(limit) };
      return {
        ok: false,
        unread: false,
        fault: refusal(400, "broken_encoding", `The body says it is ${name} and cannot be read as that: send it again, or send plain JSON.`),
      };
    }
  }
  return { ok: true, bytes };
}

type Decoder = (bytes: Uint8Array, limit: number) => Promise<Uint8Array>;

const gunzipAsync = promisify(gunzip);
const brotliAsync = promisify(brotliDecompress);
const inflateAsync = promisify(inflate);
const inflateRawAsync = promisify(inflateRaw);

/** Node says ERR_BUFFER_TOO_LARGE by a RangeError. */
const decoders: Readonly<Record<string, Decoder>> = {
  gzip: (bytes, limit) => gunzipAsync(bytes, { maxOutputLength: limit }),
  "x-gzip": (bytes, limit) => gunzipAsync(bytes, { maxOutputLength: limit }),
  br: (bytes, limit) => brotliAsync(bytes, { maxOutputLength: limit }),
  // `deflate` means zlib's wrapper; some clients send it bare.
  deflate: (bytes, limit) => ((bytes[0] ?? 0) % 16 === 8 ? inflateAsync : inflateRawAsync)(bytes, { maxOutputLength: limit }),
  zstd: async (bytes, limit) => unzstd(bytes, limit),
};

const zstdMagic = [0x28, 0xb5, 0x2f, 0xfd];

/** Bytes that a frame wants to have at hand, by its header (RFC 8878, 3.1.1.1): the decoder sets them aside before it reads any. */
function zstdWindow(bytes: Uint8Array): number {
  const descriptor = bytes[4] ?? 0;
  const isSingleSegment = (descriptor & 0x20) !== 0;
  if (!isSingleSegment) {
    const window = bytes[5] ?? 0;
    return 2 ** (10 + (window >> 3)) * (1 + (window & 7) / 8);
  }
  const start = 5 + ([0, 1, 2, 4][descriptor & 3] ?? 0);
  const length = [1, 2, 4, 8][descriptor >> 6] ?? 1;
  return bytes.subarray(start, start + length).reduceRight((size, byte) => size * 256 + byte, 0);
}

function unzstd(bytes: Uint8Array, limit: number): Uint8Array {
  if (!zstdMagic.every((byte, index) => bytes[index] === byte)) throw new Error("no zstd frame");
  if (zstdWindow(bytes) > limit * 2) throw new RangeError("too large");
  const chunks: Uint8Array[] = [];
  let size = 0;
  let ended = false;
  const stream = new Decompress((chunk, final) => {
    size += chunk.length;
    if (size > limit) throw new RangeError("too large");
    chunks.push(chunk);
    ended ||= final === true;
  });
  stream.push(bytes, true);
  if (!ended) throw new Error("the frame is cut off");
  return Buffer.concat(chunks);
}
