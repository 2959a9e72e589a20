import fc from "fast-check";
import { expect, test } from "vitest";
import { BytePairEncoding } from "./byte-pair-encoding.ts";

/** The definition, word for word: merge the lowest rank, the leftmost of equals, until nothing merges. */
function mergeSlowly(text: string, merges: readonly (readonly [string, string])[]): string[] {
  const parts = Array.from(text);
  for (;;) {
    let best = { rank: Number.POSITIVE_INFINITY, at: -1 };
    for (let at = 0; at + 1 < parts.length; at++) {
      const rank = merges.findIndex(([left, right]) => left === parts[at] && right === parts[at + 1]);
      if (rank >= 0 && rank < best.rank) best = { rank, at };
    }
    if (best.at < 0) return parts;
    parts.splice(best.at, 2, `${parts[best.at]}${parts[best.at + 1]}`);
  }
}

const letters = fc.constantFrom("a", "b", "c");
/** Merges of tokens that exist already, as a trainer makes them; two merges may make one token. */
const mergeLists = fc.array(fc.tuple(fc.nat(), fc.nat()), { maxLength: 14 }).map((picks) => {
  const tokens = ["a", "b", "c"];
  const merges: [string, string][] = [];
  for (const [first, second] of picks) {
    const left = tokens[first % tokens.length] ?? "a";
    const right = tokens[second % tokens.length] ?? "a";
    if (merges.some(([one, other]) => one === left && other === right)) continue;
    merges.push([left, right]);
    if (!tokens.includes(left + right)) tokens.push(left + right);
  }
  return { tokens, merges };
});

test("equals merging by the definition, ids and places", () => {
  fc.assert(
    fc.property(mergeLists, fc.array(letters, { maxLength: 40 }), ({ tokens, merges }, text) => {
      const vocabulary = new Map(tokens.map((token, id) => [token, id]));
      const model = new BytePairEncoding({ type: "BPE", vocab: {}, merges }, vocabulary, false, new Set());
      const expected = mergeSlowly(text.join(""), merges);
      const { ids, starts, ends } = model.symbols(text.join(""));
      expect(ids.map((id) => tokens[id])).toEqual(expected);
      expect(ids.map((_, index) => text.join("").slice(starts[index], ends[index]))).toEqual(expected);
    }),
    { numRuns: 300 },
  );
});
