import { createHash, randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeFrame } from "../bodies/pack.ts";
import { decodeRecipe } from "../bodies/recipe.ts";
import type { JournalBody } from "./messages.ts";
import { packBodies } from "./pack-bodies.ts";

interface Packed {
  readonly chunks: ReadonlyMap<number, Buffer>;
  readonly bodies: ReadonlyMap<number, Buffer>;
  readonly frames: number;
  readonly problems: number;
}

/** Packs bodies as the store would, checking that each part names only chunks of itself and of earlier parts. */
async function pack(
  bodies: readonly { readonly owner: number; readonly bytes: Uint8Array | null | Error }[],
  stored = new Map<string, number>(),
): Promise<Packed> {
  const chunks = new Map<number, Buffer>();
  const byKey = new Map<number, Buffer>();
  const journalBodies: JournalBody[] = bodies.map(({ owner }, index) => ({ key: index + 1, owner, hash: "", journal: 1, offset: index }));
  const source = packBodies(journalBodies, 100, {
    findChunk: (hash) => stored.get(Buffer.from(hash).toString("hex")) ?? null,
    read(body) {
      const bytes = bodies[body.key - 1]?.bytes;
      if (bytes instanceof Error) throw bytes;
      return bytes ?? null;
    },
  });
  let frames = 0;
  for (;;) {
    const step = source.next();
    if (step.done) return { chunks, bodies: byKey, frames, problems: step.value.length };
    const { frame, bodies: complete } = step.value;
    if (frame !== null) {
      frames += 1;
      const plain = decodeFrame(Buffer.from(frame.bytes));
      expect(plain.length).toBe(frame.length);
      for (const chunk of frame.chunks) {
        const bytes = plain.subarray(chunk.offset, chunk.offset + chunk.length);
        expect(createHash("sha256").update(bytes).digest().subarray(0, 20).equals(chunk.hash)).toBe(true);
        expect(chunks.has(chunk.key)).toBe(false);
        chunks.set(chunk.key, Buffer.from(bytes));
        stored.set(Buffer.from(chunk.hash).toString("hex"), chunk.key);
      }
    }
    for (const body of complete) {
      const parts = decodeRecipe(body.recipe).flatMap((run) => Array.from({ length: run.count }, (_, index) => chunks.get(run.first + index)));
      if (stored.size === chunks.size) expect(parts.every((part) => part !== undefined)).toBe(true);
      byKey.set(body.key, Buffer.concat(parts.map((part) => part ?? Buffer.alloc(0))));
    }
  }
}

describe("packBodies", () => {
  it("gives every body back from its chunks, whatever repeats", async () => {
    const block = fc.integer({ min: 0, max: 6 }).map((seed) => createHash("sha512").update(String(seed)).digest("hex").repeat(40));
    const body = fc.record({
      owner: fc.integer({ min: 1, max: 2 }),
      bytes: fc.array(block, { maxLength: 8 }).map((blocks) => Buffer.from(blocks.join(""))),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(body, { maxLength: 12 }), async (bodies) => {
        const packed = await pack(bodies);
        bodies.forEach(({ bytes }, index) => {
          expect(packed.bodies.get(index + 1)?.equals(bytes)).toBe(true);
        });
      }),
      { numRuns: 60 },
    );
  });

  it("cuts frames of about a megabyte, also inside one body", async () => {
    const large = randomBytes(5_000_000);
    const packed = await pack([{ owner: 1, bytes: large }]);
    expect(packed.frames).toBe(5);
    expect(packed.bodies.get(1)?.equals(large)).toBe(true);
  });

  it("stores a growing body's chunks once and those that packs hold not at all", async () => {
    const text = randomBytes(150_000).toString("base64");
    const bodies = Array.from({ length: 20 }, (_, index) => ({ owner: 1, bytes: Buffer.from(text.slice(0, 100_000 + index * 4000)) }));
    const stored = new Map<string, number>();
    const first = await pack(bodies, stored);
    const bytes = [...first.chunks.values()].reduce((sum, chunk) => sum + chunk.length, 0);
    expect(bytes).toBeLessThan(100_000 + 20 * 4000 + 20 * 8192);
    const second = await pack(bodies, stored);
    expect(second.frames).toBe(0);
    expect(second.bodies.size).toBe(20);
  });

  it("leaves out what cannot be read and what is gone, and says so", async () => {
    const packed = await pack([
      { owner: 1, bytes: Buffer.from("a") },
      { owner: 1, bytes: new Error("damaged") },
      { owner: 1, bytes: null },
      { owner: 1, bytes: Buffer.from("d") },
    ]);
    expect([...packed.bodies.keys()]).toEqual([1, 4]);
    expect(packed.problems).toBe(1);
  });
});
