import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parsePlace, placeLink, placePath, rolloutPlace, rolloutViews } from "./places.ts";

describe("places", () => {
  it("reads what it writes", () => {
    const id = fc.stringMatching(/^[\w.: %-]{1,20}$/);
    const place = fc.record({
      id,
      view: fc.constantFrom(...rolloutViews),
      call: fc.option(fc.nat()),
      chain: fc.nat(50),
    });
    fc.assert(
      fc.property(place, ({ id, ...change }) => {
        const expected = rolloutPlace(id, change);
        expect(parsePlace(placeLink(expected))).toEqual(expected);
        expect(parsePlace(`#/${placePath(expected)}`)).toEqual(expected);
      }),
    );
  });

  it("opens the tokens when a link names some", () => {
    expect(parsePlace("openforge://run/r-1/call/9?tok=3-12")).toEqual(rolloutPlace("r-1", { view: "tokens", call: 9, tokens: { from: 3, to: 12 } }));
  });

  it("names no place for anything else", () => {
    for (const text of ["", "#", "openforge://", "run/", "run/a/call/x", "delete/everything"]) expect(parsePlace(text)).toBeNull();
  });
});
