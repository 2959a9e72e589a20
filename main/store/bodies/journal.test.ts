import { createHash } from "node:crypto";
import { appendFileSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { JournalReader, JournalWriter, journalNumber, journalPath } from "./journal.ts";
import { planBody } from "./similar.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "openforge-journal-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function write(texts: readonly string[]): readonly number[] {
  const writer = new JournalWriter(folder, 1);
  const offsets = texts.map((text) => {
    const bytes = Buffer.from(text);
    return writer.append(sha256(bytes), bytes.length, [], planBody(bytes, null)).offset;
  });
  writer.flush();
  writer.close();
  return offsets;
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function readAll(): { readonly texts: readonly string[]; readonly torn: readonly { readonly offset: number; readonly length: number }[] } {
  const reader = new JournalReader(folder, 1);
  const { records, torn } = reader.scan();
  const texts = records.map((record) => {
    const body = reader.body(record);
    expect(sha256(body)).toBe(record.hash);
    return Buffer.from(body).toString();
  });
  reader.close();
  return { texts, torn };
}

describe("the journal", () => {
  it("reads back what was written, the empty body too", () => {
    write(["first", "", "third".repeat(1000)]);
    expect(readAll()).toEqual({ texts: ["first", "", "third".repeat(1000)], torn: [] });
  });

  it("keeps spans and shares extents with the body before", () => {
    const writer = new JournalWriter(folder, 1);
    const one = Buffer.from(`${"a".repeat(5000)}x`);
    const two = Buffer.from(`${"a".repeat(5000)}yy`);
    const spans = [{ start: 3, end: 9, name: "key" }];
    const first = writer.append(sha256(one), one.length, spans, planBody(one, null));
    writer.append(sha256(two), two.length, [], planBody(two, { bytes: one, extents: first.extents }));
    writer.flush();
    writer.close();
    expect(readAll().texts).toEqual([one.toString(), two.toString()]);
    expect(readFileSync(journalPath(folder, 1)).length).toBeLessThan(5500);
    const reader = new JournalReader(folder, 1);
    expect(reader.record(0)?.spans).toEqual(spans);
    reader.close();
  });

  it("loses a torn tail only", () => {
    const offsets = write(["first", "second"]);
    truncateSync(journalPath(folder, 1), readFileSync(journalPath(folder, 1)).length - 2);
    expect(readAll()).toEqual({ texts: ["first"], torn: [{ offset: offsets[1], length: 68 }] });
  });

  it("reads the whole records on both sides of a damaged one", () => {
    const offsets = write(["first", "second", "third"]);
    const bytes = readFileSync(journalPath(folder, 1));
    bytes[(offsets[1] ?? 0) + 20] = 0xff ^ (bytes[(offsets[1] ?? 0) + 20] ?? 0);
    writeFileSync(journalPath(folder, 1), bytes);
    expect(readAll()).toEqual({ texts: ["first", "third"], torn: [{ offset: offsets[1], length: 70 }] });
  });

  it("sets aside garbage after the last record", () => {
    write(["first"]);
    appendFileSync(journalPath(folder, 1), "OFJ1 this is no record");
    expect(readAll().texts).toEqual(["first"]);
    expect(readAll().torn).toHaveLength(1);
  });

  it("knows its files by name", () => {
    expect(journalNumber("journal-000012.bin")).toBe(12);
    expect(journalNumber("pack-000012.pack")).toBeNull();
  });
});
