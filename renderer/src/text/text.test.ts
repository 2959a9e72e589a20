import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatJson } from "./format-json.ts";
import { highlightJson } from "./highlight.ts";
import { linesOf, longestPiece } from "./lines.ts";

describe("JSON for reading", () => {
  it("lays out as JSON.stringify does", () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
        expect(formatJson(JSON.stringify(value))).toBe(JSON.stringify(value, null, 2));
      }),
    );
  });

  it("keeps long integers, escapes and key order as sent", () => {
    expect(formatJson('{"b":12345678901234567890,"a":"\\u00e9\\"","c":1.0e5}')).toBe(
      '{\n  "b": 12345678901234567890,\n  "a": "\\u00e9\\"",\n  "c": 1.0e5\n}',
    );
  });

  it("lays out what is cut off, and never throws", () => {
    expect(formatJson('{"a":[1,"hal')).toBe('{\n  "a": [\n    1,\n    "hal');
    fc.assert(fc.property(fc.string(), (text) => void formatJson(text)));
  });
});

describe("lines", () => {
  it("loses nothing and cuts no character in half", () => {
    const long = "😀".repeat(longestPiece);
    const pieces = linesOf(`a\r\n${long}\nb`);
    expect(pieces.filter((line) => line.number !== null).map((line) => line.number)).toEqual([1, 2, 3]);
    const middle = pieces.slice(1, -1).map((line) => line.text);
    expect(middle.join("")).toBe(long);
    for (const piece of middle) expect(encodeURIComponent(piece)).not.toBe("");
  });
});

describe("colours", () => {
  it("cover the line exactly", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('"', "\\", ":", " ", "1", "-", "true", "a", "{", ",") }), (line) => {
        expect(
          highlightJson(line)
            .map((part) => part.text)
            .join(""),
        ).toBe(line);
      }),
    );
  });

  it("tell keys from strings", () => {
    expect(highlightJson('  "a": "b", 1 null').filter((part) => part.kind !== "plain")).toEqual([
      { kind: "key", text: '"a"' },
      { kind: "string", text: '"b"' },
      { kind: "number", text: "1" },
      { kind: "word", text: "null" },
    ]);
  });
});
