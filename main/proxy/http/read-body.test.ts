import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { systemClock } from "../clock.ts";
import { readBody } from "./read-body.ts";

const limit = 4096;
const read = (bytes: Uint8Array, encoding: string, headers: object = {}) => {
  const request = Object.assign(Readable.from([bytes.subarray(0, 3), bytes.subarray(3)]), {
    headers: { "content-encoding": encoding, ...headers },
    socket: {},
  });
  return readBody(request as unknown as IncomingMessage, systemClock, limit);
};
const plain = Buffer.from(JSON.stringify({ text: "é".repeat(100) }));
const bomb = Buffer.alloc(limit * 4);

test.each([
  ["gzip", gzipSync(plain)],
  ["x-gzip", gzipSync(plain)],
  ["BR", brotliCompressSync(plain)],
  ["deflate", deflateSync(plain)],
  ["deflate", deflateRawSync(plain)],
  ["identity", plain],
  ["gzip, br", brotliCompressSync(gzipSync(plain))],
])("%s is undone", async (encoding, bytes) => {
  expect(await read(bytes, encoding)).toEqual({ ok: true, bytes: plain });
});

test.each([
  ["gzip", gzipSync(bomb)],
  ["br", brotliCompressSync(bomb)],
  ["deflate", deflateSync(bomb)],
  // A frame of nothing that asks for a window of a gigabyte; and one that says it holds four.
  ["zstd", Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 20 << 3, 1, 0, 0])],
  ["zstd", Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 0, 255, 1, 0, 0])],
])("%s that grows beyond the limit is refused as too large", async (encoding, bytes) => {
  expect(await read(bytes, encoding)).toMatchObject({ ok: false, fault: { status: 413 } });
});

test("what is too large as it is, by its length or by coming on, is not read to its end", async () => {
  expect(await read(plain, "", { "content-length": String(limit + 1) })).toMatchObject({ ok: false, unread: true, fault: { status: 413 } });
  expect(await read(bomb, "")).toMatchObject({ ok: false, unread: true, fault: { status: 413 } });
});

test.each([
  ["gzip", plain, 400],
  ["br", plain, 400],
  ["deflate", plain, 400],
  ["zstd", plain, 400],
  ["zstd", Buffer.from([0x28, 0xb5, 0x2f, 0xfd]), 400],
  ["compress", plain, 415],
])("%s that is none is refused", async (encoding, bytes, status) => {
  expect(await read(bytes, encoding)).toMatchObject({ ok: false, fault: { status } });
});
