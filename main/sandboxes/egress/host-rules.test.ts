import fc from "fast-check";
import { expect, it } from "vitest";
import { hostRules, isPublic } from "./host-rules.ts";

it("lets in listed names, and any name below a wildcard but not its suffix", () => {
  const rules = hostRules(["pypi.org", "*.example.com"], () => []);
  expect(["pypi.org", "a.example.com", "a.b.example.com"].map(rules.allowsName)).toEqual([true, true, true]);
  expect(["www.pypi.org", "example.com", ".example.com", "badexample.com", "pypi.org.evil.net", ""].map(rules.allowsName)).toEqual(
    Array(6).fill(false),
  );
});

it("lets in listed addresses and ranges", () => {
  const rules = hostRules(["93.184.216.34", "203.0.113.0/24", "2001:db8::/32"], () => []);
  expect(["93.184.216.34", "::ffff:93.184.216.34", "203.0.113.9", "2001:db8::7"].map(rules.allowsAddress)).toEqual(Array(4).fill(true));
  expect(["93.184.216.35", "203.0.114.1", "2001:db9::1"].map(rules.allowsAddress)).toEqual([false, false, false]);
});

it("lets private addresses in only by an entry of their own", () => {
  const wide = hostRules(["0.0.0.0/0", "::/0"], () => ["198.51.100.7"]);
  for (const address of ["127.0.0.1", "169.254.169.254", "10.1.2.3", "192.168.0.1", "::1", "::ffff:127.0.0.1", "fe80::1", "198.51.100.7"]) {
    expect(wide.allowsAddress(address), address).toBe(false);
  }
  expect(wide.allowsAddress("198.51.100.8")).toBe(true);
  const own = hostRules(["127.0.0.1", "10.1.0.0/16"], () => []);
  expect(["127.0.0.1", "10.1.9.9", "127.0.0.2", "10.2.0.1"].map(own.allowsAddress)).toEqual([true, true, false, false]);
});

it("takes no spelling of a loopback address for a public one", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 0xffffff }), (rest) => {
      const quads = [127, rest >> 16, (rest >> 8) & 255, rest & 255];
      const hex = quads.map((quad) => quad.toString(16).padStart(2, "0"));
      const mapped = `${hex[0]}${hex[1]}:${hex[2]}${hex[3]}`;
      for (const address of [quads.join("."), `::ffff:${quads.join(".")}`, `::ffff:${mapped}`, `0:0:0:0:0:FFFF:${mapped.toUpperCase()}`]) {
        expect(isPublic(address, []), address).toBe(false);
      }
    }),
  );
});
