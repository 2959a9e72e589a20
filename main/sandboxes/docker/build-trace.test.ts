import { expect, test } from "vitest";
import { traceLines } from "./build-trace.ts";

const field = (number: number, bytes: Buffer): Buffer => Buffer.concat([Buffer.from([number * 8 + 2, bytes.length]), bytes]);
const text = (number: number, words: string): Buffer => field(number, Buffer.from(words));

test("steps and what they print, nothing of BuildKit's own, nothing of what is torn", () => {
  const begun = Buffer.concat([text(1, "sha256:a"), text(3, "[2/3] RUN make"), Buffer.from([4 * 8, 0]), text(5, "now")]);
  const step = field(1, begun);
  const ended = field(1, Buffer.concat([begun, text(6, "now")]));
  const own = field(1, Buffer.concat([text(3, "[internal] load build context"), text(5, "now")]));
  const log = field(3, Buffer.concat([text(1, "sha256:a"), Buffer.from([3 * 8, 0xac, 0x02]), text(4, "one\ntwo é\n")]));
  const message = Buffer.concat([own, step, ended, log]);
  expect(traceLines(message.toString("base64"))).toEqual(["[2/3] RUN make", "one", "two é"]);
  expect(traceLines(message.subarray(0, message.length - 5).toString("base64"))[0]).toBe("[2/3] RUN make");
  expect(traceLines("")).toEqual([]);
});
