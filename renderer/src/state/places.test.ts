import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Place, parsePlace, placeLink, placePath, rolloutPlace, rolloutViews } from "./places.ts";

describe("places", () => {
  it("reads what it writes", () => {
    const id = fc.stringMatching(/^[\w.: %-]{1,20}$/);
    const place = fc.record({
      id,
      view: fc.constantFrom(...rolloutViews),
      call: fc.option(fc.nat()),
      chain: fc.nat(50),
      trained: fc.option(fc.record({ run: id, step: fc.nat() })),
    });
    fc.assert(
      fc.property(place, ({ id, ...change }) => {
        const expected = rolloutPlace(id, change);
        expect(parsePlace(placeLink(expected))).toEqual(expected);
        expect(parsePlace(`#/${placePath(expected)}`)).toEqual(expected);
      }),
    );
  });

  it("reads links to a step of a training run and to a comparison", () => {
    const places: readonly Place[] = [
      { kind: "train", id: null, step: null },
      { kind: "train", id: "t-1/x y", step: 96 },
      { kind: "compare", experiments: [], a: null, b: null },
      { kind: "compare", experiments: ["e-1", "e-4"], a: "e-1|codex|0.171||qwen 3", b: null },
    ];
    for (const place of places) expect(parsePlace(placeLink(place))).toEqual(place);
    expect(parsePlace("openforge://train/t-1/step/x")).toBeNull();
  });

  it("opens the tokens when a link names some", () => {
    expect(parsePlace("openforge://run/r-1/call/9?tok=3-12")).toEqual(rolloutPlace("r-1", { view: "tokens", call: 9, tokens: { from: 3, to: 12 } }));
  });

  it("names no place for anything else", () => {
    for (const text of ["", "#", "openforge://", "run/", "run/a/call/x", "delete/everything"]) expect(parsePlace(text)).toBeNull();
  });
});
