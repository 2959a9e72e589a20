import { describe, expect, it } from "vitest";
import { partShares, shareWords, wholeShares } from "./time-shares.ts";

const seconds = { total: 10, sampling: 4, sandbox: 8, training: 2, evaluation: 0, idle: 0.5, engine: 5.5 };

describe("shares of the wall time", () => {
  it("fills the whole time with three parts that do not overlap", () => {
    const parts = wholeShares(seconds) ?? [];
    expect(parts.map(({ name, share }) => [name, Number(share.toFixed(3))])).toEqual([
      ["engine", 0.55],
      ["sandboxes alone", 0.4],
      ["idle", 0.05],
    ]);
    expect(parts.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1, 9);
  });

  it("says nothing where nothing was measured, or before the engine was told", () => {
    expect(wholeShares({ ...seconds, total: 0 })).toBeNull();
    expect(wholeShares({ ...seconds, engine: 0 })).toBeNull();
    expect(wholeShares({ ...seconds, engine: 0, sampling: 0, training: 0 })).not.toBeNull();
    expect(partShares({ ...seconds, total: 0 })).toEqual([]);
  });

  it("lets parts overlap, each within the whole", () => {
    const shares = Object.fromEntries(partShares(seconds).map(({ name, share }) => [name, share]));
    expect(shares).toEqual({ sampling: 0.4, sandboxes: 0.8, training: 0.2, evaluation: 0 });
    // Clocks of two processes may differ by a little.
    expect(wholeShares({ ...seconds, engine: 10.2 })?.map(({ share }) => share)).toEqual([1, 0, 0.05]);
  });

  it("never says 0 % of what is there", () => {
    expect([0, 0.001, 0.006, 0.555, 1].map(shareWords)).toEqual(["0\u00a0%", "<\u00a01\u00a0%", "1\u00a0%", "56\u00a0%", "100\u00a0%"]);
  });
});
