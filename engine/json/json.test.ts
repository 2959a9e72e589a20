import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  canonicalJson,
  dumpJson,
  equivalenceKey,
  floatText,
  hasLoneSurrogate,
  JsonSyntaxError,
  parseJson,
  replaceLoneSurrogates,
  sliceJson,
} from "./index.ts";

describe("parseJson", () => {
  it("keeps what JSON.parse loses", () => {
    const text = '{"b": 1.0, "10": -0.0, "2": 123456789012345678901234567890, "e": 1e-07, "i": -0}';
    expect(dumpJson(parseJson(text))).toBe('{"b": 1.0, "10": -0.0, "2": 123456789012345678901234567890, "e": 1e-07, "i": 0}');
  });

  it("agrees with JSON.parse on every JSON text", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(JSON.parse(dumpJson(parseJson(text)))).toEqual(JSON.parse(text));
      }),
    );
  });

  it("refuses what JSON.parse refuses", () => {
    const alphabet = fc.constantFrom(...'{}[]",:\\ntrue-0.1eE+ux\n ');
    fc.assert(
      fc.property(fc.array(alphabet, { maxLength: 12 }), (characters) => {
        const text = characters.join("");
        let accepted = true;
        try {
          JSON.parse(text);
        } catch {
          accepted = false;
        }
        if (accepted) parseJson(text);
        else expect(() => parseJson(text)).toThrow(JsonSyntaxError);
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ['{"a": 1,\n "b" 2}', 'character 14 (line 2, column 6): expected ":"'],
    ["[1, 2", "found the end of the text"],
    ['["a', "never closed"],
    ["", "found the end of the text"],
    ["1 2", "expected nothing after the value"],
    ['"\\x"', "no such escape"],
    ['"a\nb"', "control character"],
    ["NaN", "expected a value"],
    ["9".repeat(5000), "more than 4300 digits"],
    ["[".repeat(100_000), "nested deeper"],
  ])("says where %j is broken", (text, message) => {
    expect(() => parseJson(text)).toThrow(message);
  });

  it("reads bare non-finite words only where asked", () => {
    expect(parseJson("[-Infinity, NaN, Infinity]", { nonFinite: true })).toEqual([-Infinity, Number.NaN, Infinity]);
  });

  it("keeps half characters apart from whole ones", () => {
    expect(parseJson('"done \\ud83d"')).toBe("done \ud83d");
    expect(parseJson('"\\ud83d\\ude00"')).toBe("😀");
    expect(hasLoneSurrogate("done \ud83d")).toBe(true);
    expect(hasLoneSurrogate("😀")).toBe(false);
    expect(replaceLoneSurrogates("\ude00😀\ud83d")).toBe("\ufffd😀\ufffd");
  });
});

describe("dumpJson", () => {
  it.each([
    [1000, "1000.0"],
    [1e16, "1e+16"],
    [123456789012345.6, "123456789012345.6"],
    [1e15, "1000000000000000.0"],
    [0.0001, "0.0001"],
    [0.00001, "1e-05"],
    [1.5e-7, "1.5e-07"],
    [1e22, "1e+22"],
    [5e-324, "5e-324"],
    [-0, "-0.0"],
    [1.7976931348623157e308, "1.7976931348623157e+308"],
  ])("writes the float %d as Python does", (value, expected) => {
    expect(floatText(value)).toBe(expected);
  });

  it("lays out an indent as Python does", () => {
    expect(dumpJson(parseJson('[[],{},[{"a":[1]}]]'), { indent: 2 })).toBe(
      '[\n  [],\n  {},\n  [\n    {\n      "a": [\n        1\n      ]\n    }\n  ]\n]',
    );
  });

  it("sorts keys by code point", () => {
    expect(dumpJson(parseJson('{"😀":1,"\uffff":2,"a":3}'), { sortKeys: true, separators: [",", ":"] })).toBe('{"a":3,"\uffff":2,"😀":1}');
  });

  it("escapes for ASCII", () => {
    expect(dumpJson("é\u007f😀\u2028", { ensureAscii: true })).toBe('"\\u00e9\\u007f\\ud83d\\ude00\\u2028"');
  });
});

describe("sliceJson", () => {
  it("gives parts exactly as written", () => {
    const document = sliceJson(' {"tools": [ {"p": {"10": 1.0, "2" : 1e5}} ], "x":null } ');
    const parameters = document.entries().get("tools")?.items()[0]?.entries().get("p");
    expect(parameters?.text).toBe('{"10": 1.0, "2" : 1e5}');
    expect(parameters?.kind).toBe("object");
    expect(document.text).toBe('{"tools": [ {"p": {"10": 1.0, "2" : 1e5}} ], "x":null }');
    expect(document.entries().get("x")?.kind).toBe("null");
  });
});

describe("canonicalJson", () => {
  it("is compact, keeps order and big numbers, and is stable", () => {
    expect(canonicalJson(' { "b" : "\\u00e9\\/" , "1" : [ 1.50 , 1e999 ] } ')).toBe('{"b":"é/","1":[1.5,1e999]}');
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(canonicalJson(canonicalJson(text))).toBe(canonicalJson(text));
      }),
    );
  });

  it("writes half characters so that UTF-8 can carry them", () => {
    expect(canonicalJson('"\\ud83d"')).toBe('"\\ud83d"');
  });
});

describe("equivalenceKey", () => {
  it("is blind to what a JavaScript client changes", () => {
    const text = '{"b": 1.0, "10": [1e2, 12345678901234567890], "z": -0.0}';
    const rewritten = JSON.stringify(JSON.parse(text));
    expect(rewritten).not.toBe(canonicalJson(text));
    expect(equivalenceKey(parseJson(rewritten))).toBe(equivalenceKey(parseJson(text)));
    expect(equivalenceKey(parseJson('{"a":1}'))).not.toBe(equivalenceKey(parseJson('{"a":"1"}')));
  });
});
