import assert from "node:assert/strict";
import { test } from "node:test";
import { formatDuration, parseDuration } from "./duration.mjs";

test("reads one part", () => assert.equal(parseDuration("45s"), 45));
test("reads several parts", () => assert.equal(parseDuration("2h 30m"), 9000));
test("refuses what is no duration", () => assert.throws(() => parseDuration("soon"), RangeError));
test("writes several parts", () => assert.equal(formatDuration(93600), "1d 2h"));
test("writes a part that is nearly the next", () => assert.equal(formatDuration(3599), "59m 59s"));
