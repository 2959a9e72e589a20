import { expect, it } from "vitest";
import { packageClosure, parsePackages } from "./host-packages.ts";

const database = `Package: a
Status: install ok installed
Depends: b (>= 1.2) | c, virtual:any
Description: first
 Package: not-a-field

Package: b
Status: deinstall ok config-files
Depends: z

Package: c
Status: install ok installed
Pre-Depends: d

Package: d
Status: install ok installed

Package: e
Status: install ok installed
Provides: virtual (= 2), other

Package: lonely
Status: install ok installed
`;

it("takes what is wanted and installed, with all that this needs: alternatives in order, virtual packages by their provider", () => {
  const packages = parsePackages(database);
  const names = packageClosure(packages, ["a", "not-installed"]).map(({ name }) => name);
  expect(names).toEqual(["a", "c", "d", "e"]);
  expect(packages.has("b")).toBe(false);
  expect(packageClosure(packages, [])).toEqual([]);
});
