import fc from "fast-check";
import { expect, test } from "vitest";
import { otherMembers, readRequestBody } from "./request-body.ts";

test("members are as written", () => {
  const body = readRequestBody(' { "a" : 1.0 , "b\\"x":{"2":1e5,"1":[ "}\\\\" ] } ,"c":"é\\"," , "a":-0.0}');
  expect([...body.raw]).toEqual([
    ["a", "-0.0"],
    ['b"x', '{"2":1e5,"1":[ "}\\\\" ] }'],
    ["c", '"é\\","'],
  ]);
  expect(otherMembers(body, new Set(["c"]))).toBe('{"a":-0.0,"b\\"x":{"2":1e5,"1":[ "}\\\\" ] }}');
});

test("every member of every object reads back as its value", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.constantFrom(undefined, 2), (object, indent) => {
      const body = readRequestBody(JSON.stringify(object, null, indent));
      const read = Object.fromEntries([...body.raw].map(([key, text]) => [key, JSON.parse(text) as unknown]));
      expect(JSON.stringify(read)).toBe(JSON.stringify(Object.fromEntries(Object.entries(body.value as object))));
    }),
  );
});

test("what is no object has no members", () => {
  for (const text of ["[]", "null", '"x"', "{}", " [1] "]) expect(readRequestBody(text).raw.size).toBe(0);
});
