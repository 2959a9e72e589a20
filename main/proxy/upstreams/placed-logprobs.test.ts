import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { placeLogprobs } from "./placed-logprobs.ts";

const given = (...ids: number[]) => ids.map((id, index) => ({ id, logprob: -index - 1 }));

describe("log-probs of some of the tokens", () => {
  it("stand beside their ids when there is one for each", () => {
    expect(placeLogprobs([5, 6, 5], given(5, 6, 5))).toEqual([-1, -2, -3]);
  });

  it("leave a token without where the server has none", () => {
    expect(placeLogprobs([1, 90, 91, 92, 2], given(1, 92, 2))).toEqual([-1, null, null, -2, -3]);
  });

  it("are not placed where two places are possible", () => {
    expect(placeLogprobs([1, 90, 90, 2], given(1, 90, 2))).toEqual([-1, null, null, -3]);
  });

  it("are none when they are of other tokens, or when there are none", () => {
    expect(placeLogprobs([1, 2], given(1, 3))).toBeNull();
    expect(placeLogprobs([1, 2], null)).toBeNull();
  });

  it("never stand beside a token that they are not of, whatever was left out", () => {
    const tokens = fc.array(fc.record({ id: fc.integer({ min: 0, max: 3 }), kept: fc.boolean() }), { maxLength: 12 });
    fc.assert(
      fc.property(tokens, (all) => {
        const truth = all.map(({ kept }, index) => (kept ? -index - 1 : null));
        const known = all.flatMap(({ id, kept }, index) => (kept ? [{ id, logprob: -index - 1 }] : []));
        const placed = placeLogprobs(
          all.map(({ id }) => id),
          known,
        );
        expect(placed).toHaveLength(all.length);
        placed?.forEach((logprob, index) => {
          if (logprob !== null) expect(logprob).toBe(truth[index]);
        });
      }),
    );
  });
});
