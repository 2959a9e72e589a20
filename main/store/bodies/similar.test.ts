import fc from "fast-check";
import { expect, it } from "vitest";
import { type Extent, planBody, type WrittenBody } from "./similar.ts";

/** Writes bodies one after another into one byte string, as the journal does, each like the one before. */
function writeAll(bodies: readonly Uint8Array[]): { readonly file: Buffer; readonly extents: readonly (readonly Extent[])[] } {
  let file = Buffer.alloc(0);
  let previous: WrittenBody | null = null;
  const extents: (readonly Extent[])[] = [];
  for (const bytes of bodies) {
    const plan = planBody(bytes, previous);
    const literal = { offset: file.length, length: plan.literal.length };
    file = Buffer.concat([file, plan.literal]);
    const all = [...plan.before, ...(literal.length > 0 ? [literal] : []), ...plan.after];
    extents.push(all);
    previous = { bytes, extents: all };
  }
  return { file, extents };
}

function assemble(file: Buffer, extents: readonly Extent[]): Buffer {
  return Buffer.concat(extents.map((extent) => file.subarray(extent.offset, extent.offset + extent.length)));
}

it("gives every body back, whatever the bodies have in common", () => {
  const block = fc.integer({ min: 0, max: 5 }).map((id) => Buffer.alloc(700, id + 65));
  const body = fc
    .array(block, { maxLength: 8 })
    .chain((blocks) => fc.string({ maxLength: 30 }).map((text) => Buffer.concat([...blocks, Buffer.from(text)])));
  fc.assert(
    fc.property(fc.array(body, { minLength: 1, maxLength: 8 }), (bodies) => {
      const { file, extents } = writeAll(bodies);
      bodies.forEach((bytes, index) => {
        expect(assemble(file, extents[index] ?? []).equals(bytes)).toBe(true);
      });
    }),
  );
});

it("writes only what is new of a body that grows by a message a call", () => {
  const head = Buffer.alloc(8000, "h");
  const tail = Buffer.alloc(3000, "t");
  let messages = Buffer.alloc(0);
  const bodies = Array.from({ length: 100 }, (_, index) => {
    messages = Buffer.concat([messages, Buffer.from(`{"message":${index}}`.padEnd(500, String(index)))]);
    return Buffer.concat([head, messages, tail]);
  });
  const { file, extents } = writeAll(bodies);
  expect(file.length).toBeLessThan(8000 + 3000 + 100 * 520);
  expect(assemble(file, extents[99] ?? []).equals(bodies[99] ?? Buffer.alloc(0))).toBe(true);
});
