import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ChainTokens } from "../../../service/views.ts";
import { heatStep, logprobStats, lowProbabilities, maskEdges, nextOf, placeSpans, spanAt, surpriseBins, tokenAt } from "./chain.ts";
import { flowRows, rowOf, tokenLook } from "./layout.ts";
import { gapOf, gapStep, trainedTokens } from "./trained.ts";

const span = fc.record({
  callIndex: fc.nat(9),
  kind: fc.constantFrom("prompt" as const, "sampled" as const),
  mask: fc.constantFrom(0 as const, 1 as const),
  ids: fc.array(fc.nat(999), { maxLength: 400 }),
});
const chains = fc.array(span, { maxLength: 6 }).map(
  (spans): ChainTokens => ({
    chain: 0,
    total: spans.reduce((sum, each) => sum + each.ids.length, 0),
    trained: 0,
    breakCause: null,
    spans: spans.map((each) => ({ ...each, texts: each.ids.map((id) => (id % 7 === 0 ? "a\n" : " b")), logprobs: each.ids.map((id) => -id / 100) })),
  }),
);

describe("token flow", () => {
  it("shows or folds every token exactly once, in order", () => {
    fc.assert(
      fc.property(chains, fc.array(fc.nat(5)), (chain, opened) => {
        const rows = flowRows(placeSpans(chain), new Set(opened));
        const covered = rows.flatMap((row) =>
          row.kind === "head" ? [] : Array.from({ length: row.to - row.from }, (_, at) => row.placed.start + row.from + at),
        );
        expect(covered).toEqual(Array.from({ length: chain.total }, (_, at) => at));
      }),
    );
  });

  it("finds rows, spans and tokens by position", () => {
    fc.assert(
      fc.property(chains, (chain) => {
        const spans = placeSpans(chain);
        const rows = flowRows(spans, new Set());
        const ids = chain.spans.flatMap((each) => each.ids);
        for (let position = 0; position < chain.total; position += 37) {
          expect(rowOf(rows, position)).toBeGreaterThanOrEqual(0);
          expect(tokenAt(spans, position)?.id).toBe(ids[position]);
        }
        expect(spanAt(spans, chain.total)).toBeNull();
        expect(rowOf(rows, chain.total)).toBe(-1);
      }),
    );
  });

  it("never folds what is trained", () => {
    const chain: ChainTokens = {
      chain: 0,
      total: 500,
      trained: 500,
      breakCause: null,
      spans: [{ callIndex: 0, kind: "sampled", mask: 1, ids: Array(500).fill(1), texts: null, logprobs: null }],
    };
    expect(flowRows(placeSpans(chain), new Set()).some((row) => row.kind === "fold")).toBe(false);
  });
});

describe("token looks", () => {
  it("make spaces and newlines seen, and box control tokens", () => {
    expect(tokenLook("  out", 1)).toEqual({ lead: "··", text: "out", tail: "", control: false });
    expect(tokenLook(";\n ", 1)).toEqual({ lead: "", text: ";", tail: "↵·", control: false });
    expect(tokenLook("<|im_end|>", 1).control).toBe(true);
    expect(tokenLook("</tool_call>", 1).control).toBe(true);
    expect(tokenLook("a < b > c", 1).control).toBe(false);
    expect(tokenLook(null, 1760).text).toBe("1760");
    expect(tokenLook("", 12).text).toBe("⟨12⟩");
  });
});

describe("surprise", () => {
  it("has the seven steps of the scale", () => {
    expect([0, -0.1, -0.5, -1, -2, -3, -5, -40].map(heatStep)).toEqual([0, 1, 2, 3, 4, 5, 6, 6]);
  });

  it("counts every token in one bin", () => {
    fc.assert(
      fc.property(chains, fc.integer({ min: 1, max: 60 }), (chain, count) => {
        const spans = placeSpans(chain);
        const bins = surpriseBins(spans, chain.total, count);
        expect(bins[0]?.from).toBe(0);
        const trained = bins.reduce((sum, bin) => sum + bin.trained * (bin.to - bin.from), 0);
        const expected = chain.spans.reduce((sum, each) => sum + (each.mask === 1 ? each.ids.length : 0), 0);
        if (chain.total > 0) expect(trained).toBeCloseTo(expected, 6);
        const stats = logprobStats(spans);
        expect(stats.histogram.reduce((sum, n) => sum + n, 0)).toBe(stats.n);
      }),
    );
  });

  it("finds mask edges and low probabilities, going round", () => {
    const spans = placeSpans({
      chain: 0,
      total: 5,
      trained: 2,
      breakCause: null,
      spans: [
        { callIndex: 0, kind: "prompt", mask: 0, ids: [1, 2], texts: null, logprobs: null },
        { callIndex: 0, kind: "sampled", mask: 1, ids: [3, 4], texts: null, logprobs: [-0.1, -9] },
        { callIndex: 1, kind: "prompt", mask: 0, ids: [5], texts: null, logprobs: null },
      ],
    });
    expect(maskEdges(spans)).toEqual([2, 4]);
    expect(lowProbabilities(spans)).toEqual([{ position: 3, logprob: -9 }]);
    expect([nextOf([2, 4], 2), nextOf([2, 4], 4), nextOf([], 0)]).toEqual([4, 2, null]);
    expect(logprobStats(placeSpans({ chain: 0, total: 0, trained: 0, breakCause: null, spans: [] })).mean).toBeNull();
  });
});

describe("what an update saw", () => {
  it("is read by position; what took no part is missing, not 0", () => {
    const trained = trainedTokens({ chain: 0, mask: [0, 1, 1], advantages: [null, -1.5, 0.5], trainerLogprobs: [null, -0.3, null] }, 1);
    expect([0, 1, 9].map(trained.mask)).toEqual([0, 1, 0]);
    expect([trained.advantage(0), trained.advantage(1), trained.largest]).toEqual([null, -1.5, 1.5]);
    expect(gapOf(trained, 1, -0.5)).toBeCloseTo(0.2);
    expect([gapOf(trained, 2, -0.5), gapOf(trained, 1, null)]).toEqual([null, null]);
    expect([0, 0.005, -0.02, 0.07, 0.1, -0.3, 2].map(gapStep)).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });
});
