import { expect, it } from "vitest";
import { NearCache } from "./near-cache.ts";

const body = (text: string): Uint8Array => Buffer.from(text.repeat(400));

it("shares what the last body under a key holds, in the same journal", () => {
  const cache = new NearCache();
  cache.remember("r1 requests", 1, { bytes: body("one "), extents: [{ offset: 100, length: 1600 }] });
  expect(cache.plan("r1 requests", 1, Buffer.concat([body("one "), body("two ")])).before).toEqual([{ offset: 100, length: 1600 }]);
  expect(cache.plan("r1 requests", 2, body("one ")).before).toEqual([]);
  expect(cache.plan("r2 requests", 1, body("one ")).before).toEqual([]);
  expect(cache.plan(undefined, 1, body("one ")).before).toEqual([]);
});

it("forgets keys that were not used for long, so that it does not grow with every rollout", () => {
  const cache = new NearCache();
  const written = { bytes: body("one "), extents: [{ offset: 0, length: 1600 }] };
  for (let rollout = 0; rollout < 300; rollout += 1) {
    cache.remember(`r${rollout} requests`, 1, written);
    cache.remember("lasting requests", 1, written);
  }
  expect(cache.plan("r0 requests", 1, body("one ")).before).toEqual([]);
  for (const key of ["r299 requests", "lasting requests"]) expect(cache.plan(key, 1, body("one ")).before).toHaveLength(1);
});
