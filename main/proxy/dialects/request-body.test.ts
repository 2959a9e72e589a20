import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { textOf } from "./json-bytes.ts";
import { otherMembers, rawItem, readOnward, readWhole, type ScannedBody } from "./request-body.ts";

const whole = (text: string): ScannedBody => readWhole(Buffer.from(text), "list");
const rawOf = (body: ScannedBody) => [...body.raw].map(([name, bytes]) => [name, textOf(bytes)]);

describe("a whole body", () => {
  test("has its members as written", () => {
    const body = whole(' { "a" : 1.0 , "b\\"x":{"2":1e5,"1":[ "}\\\\" ] } ,"c":"é\\"," , "a":-0.0, "list":[ 1 ,"a,]" , {"x":[]} ] }');
    expect(rawOf(body)).toEqual([
      ["a", "-0.0"],
      ['b"x', '{"2":1e5,"1":[ "}\\\\" ] }'],
      ["c", '"é\\","'],
      ["list", '[ 1 ,"a,]" , {"x":[]} ]'],
    ]);
    expect(otherMembers(body, new Set(["c", "list"]))).toBe('{"a":-0.0,"b\\"x":{"2":1e5,"1":[ "}\\\\" ] }}');
    expect([0, 1, 2].map((index) => rawItem(body, "list", index))).toEqual(["1", '"a,]"', '{"x":[]}']);
  });

  test("every member of every object reads back as its value", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.constantFrom(undefined, 2), (object, indent) => {
        const body = whole(JSON.stringify(object, null, indent));
        for (const [name, bytes] of body.raw) expect(JSON.parse(textOf(bytes))).toEqual(body.value[name]);
        expect(body.raw.size).toBe(Object.keys(body.value).length);
      }),
    );
  });

  test.each(["[]", "null", '"x"', "{", "7"])("what is no object is refused: %s", (text) => {
    expect(() => whole(text)).toThrow(SyntaxError);
  });
});

describe("a body that goes on from an earlier one", () => {
  const items = fc.array(fc.oneof(fc.jsonValue(), fc.constantFrom("]", "},{", 'a"b', "\\", "é😀")), { maxLength: 6 });
  // Not digits: JavaScript would write those first.
  const head = fc.dictionary(fc.constantFrom("a", "b c", 'd"', "é"), fc.jsonValue(), { maxKeys: 3 });
  const rest = fc.dictionary(fc.constantFrom("x", "y]", "}"), fc.jsonValue(), { maxKeys: 3 });

  test("is read the same as on its own, wherever the two part", () => {
    fc.assert(
      fc.property(items, items, items, head, rest, fc.constantFrom(undefined, 1), (shared, before, after, head, rest, indent) => {
        const write = (list: readonly unknown[], tail: object): Buffer => Buffer.from(JSON.stringify({ ...head, list, ...tail }, null, indent));
        const earlier = readWhole(write([...shared, ...before], rest), "list");
        const bytes = write([...shared, ...after], { z: 1 });
        const alone = readWhole(bytes, "list");
        for (const count of [shared.length, shared.length - 1]) {
          if (count < 1) continue;
          const onward = readOnward(bytes, "list", earlier, { items: count, messages: [] });
          if (onward === null) throw new Error("it should go on");
          const { list, ...others } = onward.value;
          const { list: wholeList, ...wholeOthers } = alone.value;
          expect([...shared.slice(0, count), ...(list as unknown[])].length).toBe((wholeList as unknown[]).length);
          expect(list).toEqual((wholeList as unknown[]).slice(count));
          expect(others).toEqual(wholeOthers);
          expect(rawOf(onward)).toEqual(rawOf(alone));
          expect(onward.itemEnds).toEqual(alone.itemEnds);
        }
      }),
    );
  });

  const earlier = whole('{"m":1,"list":[1,2],"t":3}');
  const onward = (text: string) => readOnward(Buffer.from(text), "list", earlier, { items: 2, messages: [] });

  test("is read whole where it does not, or where anything is odd", () => {
    expect(onward('{"m":1,"list":[1,2,3],"t":4}')?.value).toEqual({ m: 1, list: [3], t: 4 });
    expect(onward('{"m":1,"list":[1,2]}')?.value).toEqual({ m: 1, list: [] });
    expect(onward('{"m":1,"list":[1,2],"m":9}')?.value, "the last of a name counts").toEqual({ m: 9, list: [] });
    for (const text of [
      '{"m":2,"list":[1,2,3]}',
      '{"m":1,"list":[1,25]}',
      '{"m":1,"list":[1,2 3]}',
      '{"m":1,"list":[1,2,]}',
      '{"m":1,"list":[1,2,3}',
      '{"m":1,"list":[1,2],"list":[7]}',
      '{"m":1,"list":[1',
    ])
      expect(onward(text), text).toBeNull();
  });
});
