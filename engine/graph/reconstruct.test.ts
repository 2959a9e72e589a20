import { expect, test } from "vitest";
import { reconstruct } from "./index.ts";
import { graphCall, linear, place, rebuild, type ServedCall } from "./served-calls.test-data.ts";

test("a linear rollout is one chain, whatever aborted retries stand between", () => {
  const served = linear(5);
  expect(rebuild(served).chains).toMatchObject([{ calls: [0, 1, 2, 3, 4], trained: 10, breakCause: null, trainable: true }]);
  const third = served[2];
  if (third === undefined) throw new Error("no third call");
  const lost: ServedCall = { ...third, call: graphCall(2, "undelivered"), sampled: [7], logprobs: [-1] };
  const retried = [...served.slice(0, 2), lost, ...served.slice(2).map((one) => ({ ...one, call: graphCall(one.call.index + 1, null) }))];
  const rebuilt = rebuild(retried);
  expect(rebuilt.chains).toMatchObject([{ calls: [0, 1, 3, 4, 5], trained: 10 }]);
  expect(rebuilt.chainOfCall.has(2)).toBe(false);
  expect(rebuilt.counts.excluded).toEqual({ undelivered: 1 });
});

test("the child of the same thread goes on with the chain, though another was first", () => {
  const root: ServedCall = { call: graphCall(0, null, { thread: "main" }), prompt: [1], sampled: [2], logprobs: [-1] };
  const helper: ServedCall = { call: graphCall(1, null, { thread: "helper" }), prompt: [1, 2, 5], sampled: [6], logprobs: [-1] };
  const next: ServedCall = { call: graphCall(2, null, { thread: "main" }), prompt: [1, 2, 3], sampled: [4], logprobs: [-1] };
  expect(rebuild([root, helper, next]).chains).toMatchObject([
    { calls: [0, 2], owned: 2, trained: 2 },
    { calls: [0, 1], owned: 1, trained: 1, breakCause: "subagent" },
  ]);
});

test("a side call has a chain of its own that is not trained, and breaks none: not the first, nor one that it branches off from", () => {
  const messages = (key: string) => [{ role: "user", key }];
  const title: ServedCall = { call: graphCall(0, "side", { messages: messages("t") }), prompt: [9], sampled: [8], logprobs: [-1] };
  const first: ServedCall = { call: graphCall(1, null, { messages: messages("m") }), prompt: [1], sampled: [2], logprobs: [-1] };
  const topic: ServedCall = { call: graphCall(2, "side"), prompt: [1, 2, 7], sampled: [8], logprobs: [-1] };
  const next: ServedCall = { call: graphCall(3, null), prompt: [1, 2, 3], sampled: [4], logprobs: [-1] };
  const rebuilt = rebuild([title, first, topic, next]);
  expect(rebuilt.chains).toMatchObject([
    { calls: [0], owned: 1, trained: 0, trainable: false, breakCause: "side", reason: "nothing sampled on it may be trained: side" },
    { calls: [1, 3], owned: 2, trained: 2, breakCause: null },
    { calls: [1, 2], owned: 1, trained: 0, trainable: false, breakCause: "side" },
  ]);
  expect(rebuilt.counts).toMatchObject({ trained: 2, breaks: { side: 2 }, excluded: { side: 2 } });
  expect(rebuilt.trainable).toBe(true);
});

test("a blanked secret makes its chain untrainable, not the others", () => {
  const served = linear(2);
  const subagent: ServedCall = { call: graphCall(2, null), prompt: [50, -1, 51], sampled: [52], logprobs: [] };
  const rebuilt = rebuild([...served, subagent]);
  expect(rebuilt.chains).toMatchObject([{ trainable: true }, { trainable: false, trained: 0, reason: expect.stringContaining("secret-seen") }]);
  expect(Array.from(rebuilt.tokensOf(1).mask)).toEqual([0, 0, 0, 0]);
  const alone = rebuild([{ ...subagent, call: graphCall(0, "quarantined") }]);
  expect([alone.trainable, alone.reason]).toEqual([false, "secret-seen: a declared secret is spelled by its tokens"]);
});

test("a node whose parent is lost is kept and not trained", () => {
  const served = linear(2);
  const rebuilt = reconstruct([graphCall(1, null)], place(served).slice(1));
  expect(rebuilt.chains).toMatchObject([{ calls: [1], trainable: false, reason: "the tokens of an earlier call are missing" }]);
});

test("calls without ids are chained by their messages and not trained", () => {
  const message = (role: string, key: string) => ({ role, key });
  const calls = [
    graphCall(0, null, { messages: [message("user", "a")], answer: "A" }),
    graphCall(1, null, { messages: [message("user", "a"), message("assistant", "A"), message("tool", "b")], answer: "B" }),
    graphCall(2, null, { messages: [message("user", "z")], answer: "Z" }),
    graphCall(3, null, { messages: [message("user", "z"), message("assistant", "Y"), message("tool", "c")], answer: "C" }),
  ];
  const rebuilt = reconstruct(calls, []);
  expect(rebuilt.chains.map((chain) => chain.calls)).toEqual([[0, 1], [2], [3]]);
  expect([rebuilt.trainable, rebuilt.reason]).toEqual([false, "no token ids"]);
});

test("a first call sent again is the first chain, not a break of the attempt that nobody went on from", () => {
  const again = [graphCall(0, "quarantined"), graphCall(1, null), graphCall(2, null)];
  const rebuilt = rebuild([
    { call: again[0] ?? graphCall(0, null), prompt: [1, 2], sampled: [3], logprobs: [-0.5] },
    { call: again[1] ?? graphCall(1, null), prompt: [1, 2], sampled: [4], logprobs: [-0.5] },
    { call: again[2] ?? graphCall(2, null), prompt: [1, 2, 4, 5], sampled: [6], logprobs: [-0.5] },
  ]);
  expect(rebuilt.chains).toMatchObject([{ calls: [1, 2], breakCause: null }]);
});

test("reasons when there is nothing to train", () => {
  expect(reconstruct([], []).reason).toBe("no calls were captured");
  expect(rebuild([{ call: graphCall(0, "undelivered"), prompt: [1], sampled: [2], logprobs: [] }]).reason).toBe(
    "no call may be trained: undelivered",
  );
  expect(rebuild([{ call: graphCall(0, null), prompt: [1], sampled: [2], logprobs: [Number.NaN] }]).reason).toBe(
    "no sampled token has a finite log-probability",
  );
  expect(() => rebuild([]).tokensOf(0)).toThrow(RangeError);
});
