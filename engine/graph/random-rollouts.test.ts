import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Exclusion, Reconstruction } from "./index.ts";
import { graphCall, place, rebuild, type ServedCall } from "./served-calls.test-data.ts";

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
