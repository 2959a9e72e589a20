import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createPlacementIndex, type Exclusion, type GraphCall, type GraphNode, type Reconstruction, reconstruct } from "./index.ts";

/** One call of a made-up rollout, as the server saw it. */
interface ServedCall {
  readonly call: GraphCall;
  readonly prompt: readonly number[];
  readonly sampled: readonly number[];
  readonly logprobs: readonly number[];
}

interface Action {
  readonly kind: "call" | "subagent" | "fork" | "compaction" | "template" | "switch";
  readonly line: number;
  readonly added: readonly number[];
  readonly sampled: readonly number[];
  readonly fate: Exclusion | "delivered" | "retried";
  /** Which sampled token has no finite log-probability, if any. */
  readonly gap: number | null;
}

/** Few different ids, so that sequences often agree by chance. */
const ids = (minLength: number) => fc.array(fc.integer({ min: 0, max: 3 }), { minLength, maxLength: 5 });
const actions: fc.Arbitrary<Action> = fc.record({
  kind: fc.oneof(
    { weight: 6, arbitrary: fc.constant("call" as const) },
    fc.constantFrom("subagent", "fork", "compaction", "template", "switch" as const),
  ),
  line: fc.nat({ max: 9 }),
  added: ids(0),
  sampled: ids(0),
  fate: fc.oneof(
    { weight: 5, arbitrary: fc.constant("delivered" as const) },
    fc.constantFrom("undelivered", "quarantined", "edited", "late", "side", "retried" as const),
  ),
  gap: fc.option(fc.nat({ max: 4 }), { freq: 4 }),
});

/** Plays the actions on interleaved lines: a main line, subagents and forks, each with its own history of ids. */
function play(script: readonly Action[]): ServedCall[] {
  const lines: number[][] = [[9]];
  const served: ServedCall[] = [];
  let active = 0;
  const serve = (action: Action, prompt: readonly number[], excluded: Exclusion | null) => {
    const index = served.length;
    const logprobs = action.sampled.map((_, position) => (position === action.gap ? Number.NEGATIVE_INFINITY : -0.5));
    served.push({ call: graphCall(index, excluded), prompt, sampled: action.sampled, logprobs });
  };
  for (const action of script) {
    const line = lines[active] ?? [];
    if (action.kind === "switch") active = action.line % lines.length;
    else if (action.kind === "subagent") active = lines.push([8, ...action.added]) - 1;
    else if (action.kind === "fork") lines.push([...line]);
    else if (action.kind === "compaction") lines[active] = [...line.slice(0, 1), 7, ...action.added];
    else if (action.kind === "template") lines[active] = [...line.slice(0, Math.max(1, line.length - 2)), 6, ...action.added];
    else {
      const prompt = [...line, ...action.added];
      const lost = action.fate === "undelivered" || action.fate === "retried";
      serve(action, prompt, action.fate === "delivered" ? null : action.fate === "retried" ? "undelivered" : action.fate);
      if (action.fate === "retried") serve({ ...action, sampled: [...action.sampled, 5] }, prompt, null);
      lines[active] =
        action.fate === "retried"
          ? [...prompt, ...action.sampled, 5]
          : lost
            ? line
            : action.fate === "edited"
              ? [...prompt, 4]
              : [...prompt, ...action.sampled];
    }
  }
  return served;
}

function graphCall(index: number, excluded: Exclusion | null, further: Partial<GraphCall> = {}): GraphCall {
  return { id: `call ${index}`, index, excluded, recordedBreak: null, messages: [], answer: null, tools: null, thread: null, ...further };
}

function place(served: readonly ServedCall[]): GraphNode[] {
  const placements = createPlacementIndex();
  return served.map(({ call, prompt, sampled, logprobs }) => {
    const placed = placements.placeCall({ callId: call.id, promptIds: Int32Array.from(prompt), sampledIds: Int32Array.from(sampled) });
    return { callId: call.id, ...placed, sampledIds: Int32Array.from(sampled), logprobs: Float32Array.from(logprobs) };
  });
}

function rebuild(served: readonly ServedCall[]): Reconstruction {
  return reconstruct(
    served.map((one) => one.call),
    place(served),
  );
}

const scripts = fc.array(actions, { maxLength: 30 });

describe("random interleavings of main line, subagents, compactions, retries and aborts", () => {
  test("the parent of a call is the longest earlier prompt + completion that its prompt begins with", () => {
    fc.assert(
      fc.property(scripts, (script) => {
        const served = play(script);
        const nodes = place(served);
        served.forEach(({ prompt }, index) => {
          const earlier = served.slice(0, index).map((one) => [...one.prompt, ...one.sampled]);
          const beginnings = earlier.filter(
            (sequence) => sequence.every((id, position) => prompt[position] === id) && sequence.length <= prompt.length,
          );
          const longest = Math.max(0, ...beginnings.map((sequence) => sequence.length));
          expect(nodes[index]?.addedPromptIds).toEqual(Int32Array.from(prompt.slice(longest)));
          const parent = served.find((one) => one.call.id === nodes[index]?.parentCallId);
          expect([...(parent?.prompt ?? []), ...(parent?.sampled ?? [])]).toEqual(prompt.slice(0, longest));
        });
      }),
    );
  });

  test("a chain's tokens are, id for id, what the server saw and sampled", () => {
    fc.assert(
      fc.property(scripts, (script) => {
        const served = play(script);
        const rebuilt = rebuild(served);
        for (const chain of rebuilt.chains) {
          const { ids: tokens, mask, logprobs, segments } = rebuilt.tokensOf(chain.number);
          expect([tokens.length, mask.length, logprobs.length]).toEqual([chain.tokens, chain.tokens, chain.tokens]);
          const last = served[chain.calls.at(-1) ?? -1];
          expect(Array.from(tokens)).toEqual([...(last?.prompt ?? []), ...(last?.sampled ?? [])]);
          for (const index of chain.calls) {
            const call = served[index];
            expect(Array.from(tokens.subarray(0, call?.prompt.length))).toEqual(call?.prompt);
            expect(sampledOf(rebuilt, chain.number, index).ids).toEqual(call?.sampled);
          }
          expect(segments.reduce((end, segment) => (segment.start === end ? segment.end : Number.NaN), 0)).toBe(chain.tokens);
        }
      }),
    );
  });

  test("every delivered, unquarantined, unedited sampled token has mask 1 in exactly one chain, its owner, and 0 in the others", () => {
    fc.assert(
      fc.property(scripts, (script) => {
        const served = play(script);
        const rebuilt = rebuild(served);
        let trained = 0;
        for (const { call, sampled, logprobs } of served) {
          const owner = rebuilt.chainOfCall.get(call.index);
          const holding = rebuilt.chains.filter((chain) => chain.calls.includes(call.index));
          if (call.excluded === null) expect(holding.map((chain) => chain.number)).toContain(owner);
          for (const chain of holding) {
            const expected = logprobs.map((logprob) => (chain.number === owner && call.excluded === null && Number.isFinite(logprob) ? 1 : 0));
            expect(sampledOf(rebuilt, chain.number, call.index).mask).toEqual(expected);
            trained += expected.filter((bit) => bit === 1).length;
          }
          expect(sampled).toHaveLength(logprobs.length);
        }
        const masks = rebuilt.chains.map((chain) => rebuilt.tokensOf(chain.number).mask.reduce((sum, bit) => sum + bit, 0));
        expect(masks).toEqual(rebuilt.chains.map((chain) => chain.trained));
        expect(rebuilt.counts.trained).toBe(trained);
      }),
    );
  });

  test("no chain is a copy of the beginning of another, but where a side call leads on from it, and each owns a call", () => {
    fc.assert(
      fc.property(scripts, (script) => {
        const served = play(script);
        const { chains } = rebuild(served);
        for (const chain of chains) {
          expect(chain.owned).toBeGreaterThan(0);
          const copies = chains
            .filter((other) => other !== chain && chain.calls.every((index, position) => other.calls[position] === index))
            .filter((other) => served[other.calls[chain.calls.length] ?? -1]?.call.excluded !== "side");
          expect(copies).toEqual([]);
        }
      }),
    );
  });
});

/** Mask and ids of a call's sampled tokens on a chain. */
function sampledOf(rebuilt: Reconstruction, chain: number, callIndex: number): { ids: number[]; mask: number[] } {
  const { ids: tokens, mask, segments } = rebuilt.tokensOf(chain);
  const segment = segments.find((one) => one.kind === "sampled" && one.callIndex === callIndex);
  if (segment === undefined) return { ids: [], mask: [] };
  return { ids: Array.from(tokens.subarray(segment.start, segment.end)), mask: Array.from(mask.subarray(segment.start, segment.end)) };
}

function linear(turns: number, further: (index: number) => Partial<GraphCall> = () => ({})): ServedCall[] {
  const served: ServedCall[] = [];
  let prompt = [1];
  for (let index = 0; index < turns; index++) {
    const sampled = [100 + index, 200 + index];
    served.push({ call: graphCall(index, null, further(index)), prompt, sampled, logprobs: [-1, -1] });
    prompt = [...prompt, ...sampled, 300 + index];
  }
  return served;
}

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

describe("causes of breaks, by the messages", () => {
  const m = (role: string, key = role) => ({ role, key });
  const first = { messages: [m("system"), m("user")], answer: "answer", tools: "t" };
  const goesOn = [m("system"), m("user"), { role: "assistant", key: "answer" }, m("tool")];
  const second = (further: Partial<GraphCall>): ServedCall => ({
    call: graphCall(1, null, { tools: "t", ...further }),
    prompt: [1, 9, 9],
    sampled: [3],
    logprobs: [],
  });
  const cause = (call: Partial<GraphCall>, firstCall: Partial<GraphCall> = first, later: readonly ServedCall[] = []) =>
    rebuild([{ call: graphCall(0, null, firstCall), prompt: [1], sampled: [2], logprobs: [] }, second(call), ...later]).chains.find((chain) =>
      chain.calls.includes(1),
    )?.breakCause;

  test("recorded by the prompt assembly", () => expect(cause({ recordedBreak: "compaction", messages: goesOn })).toBe("compaction"));
  test("the conversation went on, the template did not", () => expect(cause({ messages: goesOn })).toBe("template"));
  test("other tools", () => expect(cause({ messages: goesOn, tools: "other" })).toBe("tools-changed"));
  test("an answer that was changed", () =>
    expect(cause({ messages: [...goesOn.slice(0, 2), m("assistant", "changed"), m("tool")] })).toBe("edited-turn"));
  test("history dropped", () =>
    expect(
      cause({ messages: [m("system"), m("user"), m("user", "summary")] }, { ...first, messages: [...goesOn, m("assistant", "x"), m("tool", "y")] }),
    ).toBe("compaction"));
  test("another thread", () => expect(cause({ messages: goesOn, thread: "b" }, { ...first, thread: "a" })).toBe("subagent"));
  test("another conversation while the first goes on", () => {
    const later: ServedCall = { call: graphCall(2, null, { messages: goesOn, tools: "t" }), prompt: [1, 2, 5], sampled: [6], logprobs: [] };
    expect(cause({ messages: [m("system", "other"), m("user", "task")] }, first, [later])).toBe("subagent");
  });
  test("another conversation that takes the place of the first", () =>
    expect(cause({ messages: [m("system"), m("user", "summary")] })).toBe("compaction"));

  test("the same text in other tokens", () => {
    const letters = new Map([
      [1, "p"],
      [2, "ab"],
      [3, "a"],
      [4, "b"],
      [5, "!"],
    ]);
    const decode = (tokens: Int32Array) => Array.from(tokens, (id) => letters.get(id) ?? "?").join("");
    const served: ServedCall[] = [
      { call: graphCall(0, null, first), prompt: [1], sampled: [2], logprobs: [] },
      { call: graphCall(1, null, { messages: goesOn, tools: "t" }), prompt: [1, 3, 4, 5], sampled: [5], logprobs: [] },
    ];
    const rebuilt = reconstruct(
      served.map((one) => one.call),
      place(served),
      { decode },
    );
    expect(rebuilt.counts.breaks).toEqual({ "re-tokenisation": 1 });
  });
});
