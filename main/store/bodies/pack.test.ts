import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { decodeFrame, encodeFrame, PackReader, PackWriter, packPath } from "./pack.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "openforge-pack-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe("frames", () => {
  it("hold any bytes, the empty ones too", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 2000 }), async (plain) => {
        expect(decodeFrame(Buffer.from(encodeFrame(plain))).equals(plain)).toBe(true);
      }),
      { numRuns: 30 },
    );
  });

  it("keep what does not compress as it is", async () => {
    const noise = randomBytes(5000);
    expect(encodeFrame(noise).length).toBe(noise.length + 20);
    expect(encodeFrame(Buffer.alloc(5000, "text ")).length).toBeLessThan(100);
  });

  it("notice every kind of damage", async () => {
    const frame = Buffer.from(encodeFrame(Buffer.from("some text, some text, some text, some text")));
    expect(() => decodeFrame(Buffer.alloc(0))).toThrow("no frame");
    expect(() => decodeFrame(frame.subarray(0, frame.length - 1))).toThrow("cut off");
    for (let at = 20; at < frame.length; at++) {
      const bad = Buffer.from(frame);
      bad[at] = (bad[at] ?? 0) ^ 1;
      expect(() => decodeFrame(bad)).toThrow("checksum");
    }
  });
});

describe("packs", () => {
  it("are appended to, continued and read", async () => {
    const frames = await Promise.all(["one", "two", "three"].map(async (text) => encodeFrame(Buffer.from(text))));
    const first = new PackWriter(folder, 1, 0);
    const locations = frames.slice(0, 2).map((frame) => first.append(frame));
    expect(first.takeUnsynced()).toEqual([packPath(folder, 1)]);
    expect(first.takeUnsynced()).toEqual([]);
    first.commit();
    first.close();
    const second = new PackWriter(folder, 1, statSync(packPath(folder, 1)).size);
    locations.push(...frames.slice(2).map((frame) => second.append(frame)));
    second.commit();
    second.close();
    const reader = new PackReader(folder);
    expect(locations.map((location) => decodeFrame(reader.frame(location)).toString())).toEqual(["one", "two", "three"]);
    reader.close();
  });

  it("take back what was not committed, at the latest when they are closed", async () => {
    const frame = encodeFrame(Buffer.from("text"));
    const writer = new PackWriter(folder, 1, 0);
    const size = () => statSync(packPath(folder, 1)).size;
    writer.append(frame);
    writer.commit();
    const second = writer.append(frame);
    writer.append(frame);
    writer.retract();
    expect(size()).toBe(frame.length);
    expect(writer.append(frame)).toEqual(second);
    writer.close();
    expect(size()).toBe(frame.length);
  });
});
