/** The short form of the fuzz; `npm run study -- fuzz` is the full one. */
import { expect, test } from "vitest";
import { fuzzRequests } from "../stand-ins/fuzz/fuzz-requests.ts";
import { fuzzStreams } from "../stand-ins/fuzz/fuzz-streams.ts";

test("600 malformed requests get replies that their clients understand, and the record stays whole", { timeout: 120_000 }, async () => {
  const { cases, faults } = await fuzzRequests(600, 1);
  expect(faults).toEqual([]);
  expect(cases).toBe(600);
});

test("150 garbled answers of upstreams of every kind become answers or errors of the client's dialect", { timeout: 120_000 }, async () => {
  const { cases, faults } = await fuzzStreams(150, 1);
  expect(faults).toEqual([]);
  expect(cases).toBe(150);
});
