import fc from "fast-check";
import { expect, it } from "vitest";
import { FrameReader } from "./frames.ts";

function frame(stream: 1 | 2, payload: Uint8Array): Buffer {
  const head = Buffer.from([stream, 0, 0, 0, 0, 0, 0, 0]);
  head.writeUInt32BE(payload.length, 4);
  return Buffer.concat([head, payload]);
}

it("reads the same bytes of each stream wherever the connection cuts the frames", () => {
  const frames = fc.array(fc.tuple(fc.constantFrom<1 | 2>(1, 2), fc.uint8Array({ maxLength: 40 })), { maxLength: 12 });
  fc.assert(
    fc.property(frames, fc.infiniteStream(fc.integer({ min: 1, max: 25 })), (sent, cuts) => {
      const got = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
      const reader = new FrameReader((stream, payload) => got[stream].push(payload));
      for (let bytes = Buffer.concat(sent.map(([stream, payload]) => frame(stream, payload))); bytes.length > 0; ) {
        const cut = cuts.next().value ?? 1;
        reader.push(bytes.subarray(0, cut));
        bytes = bytes.subarray(cut);
      }
      for (const [number, name] of [
        [1, "stdout"],
        [2, "stderr"],
      ] as const) {
        const wanted = Buffer.concat(sent.filter(([stream]) => stream === number).map(([, payload]) => payload));
        expect(Buffer.concat(got[name])).toEqual(wanted);
      }
    }),
  );
});
