import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createSseReader, readSse, type SseEvent, sseText } from "./sse.ts";

function readInPieces(bytes: Uint8Array, cuts: readonly number[]): readonly SseEvent[] {
  const reader = createSseReader();
  const events: SseEvent[] = [];
  let start = 0;
  for (const cut of [...cuts.map((at) => at % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]) {
    events.push(...reader.push(bytes.subarray(start, cut)));
    start = cut;
  }
  return events;
}

describe("reading events", () => {
  test.each([
    ["data: {}\r\n\r\n", [{ event: "", data: "{}" }]],
    [
      "data:{}\r\rdata: 2\n\n",
      [
        { event: "", data: "{}" },
        { event: "", data: "2" },
      ],
    ],
    [": hello\n\nevent: x\ndata: a\ndata:  b\nid: 7\n\n", [{ event: "x", data: "a\n b" }]],
    ["\ufeffdata: 据\n\n", [{ event: "", data: "据" }]],
    ["data\n\n", [{ event: "", data: "" }]],
    ["event: lonely\n\ndata: a\n\n", [{ event: "", data: "a" }]],
    ["data: not ended\n", []],
  ])("%j", (text, events) => {
    expect(readSse(text)).toEqual(events);
  });

  test("is the same wherever the stream is cut, between the bytes of a character or of a line end too", () => {
    const data = fc.array(fc.constantFrom("据", "😀", "a", " ", ":", "\n", "é"), { maxLength: 6 }).map((parts) => parts.join(""));
    fc.assert(
      fc.property(
        fc.array(fc.record({ event: fc.constantFrom("", "delta"), data }), { maxLength: 5 }),
        fc.constantFrom("\n", "\r\n", "\r"),
        fc.array(fc.nat(400)),
        (events, lineEnd, cuts) => {
          const bytes = Buffer.from(events.map(sseText).join("").replaceAll("\n", lineEnd));
          expect(readInPieces(bytes, cuts)).toEqual(events);
        },
      ),
    );
  });

  test("tells that the end was cut off", () => {
    const reader = createSseReader();
    reader.push(Buffer.from("data: a\n\ndata: half"));
    expect(reader.end()).toEqual({ cut: true });
    const whole = createSseReader();
    whole.push(Buffer.from("data: a\n\n"));
    expect(whole.end()).toEqual({ cut: false });
  });
});
