import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { plainConfig, readTaskToml } from "./read-task-toml.ts";

const folder = new URL("../../../tests/fixtures/harbor/task-toml/", import.meta.url);
const verdicts = z
  .record(z.string(), z.object({ accepted: z.boolean(), config: z.unknown().optional(), dropped: z.array(z.string()).default([]) }))
  .parse(JSON.parse(readFileSync(new URL("expected.json", folder), "utf8")));

const read = (text: string) => readTaskToml(new TextEncoder().encode(text));
const configOf = (text: string): unknown => JSON.parse(JSON.stringify(plainConfig(read(text).config)));
const faultsOf = (text: string) => read(text).faults.map(({ line, message }) => `${line}: ${message}`);

describe("Harbor's verdicts", () => {
  for (const [name, expected] of Object.entries(verdicts)) {
    test(name, () => {
      const reading = readTaskToml(readFileSync(new URL(name, folder)));
      expect(reading.config !== null).toBe(expected.accepted);
      if (expected.accepted) {
        expect(JSON.parse(JSON.stringify(plainConfig(reading.config)))).toEqual(expected.config);
        expect(reading.dropped).toEqual(expected.dropped);
        expect(reading.faults).toHaveLength(expected.dropped.length);
      } else {
        expect(reading.faults).toHaveLength(1);
        expect(reading.faults[0]).toMatchObject({ file: "task.toml", severity: "error" });
      }
    });
  }
});

/** Verdicts of harbor 0.26.0 on values that its models convert. */
describe("converted values", () => {
  const inTable = (table: string, key: string, value: string): unknown => {
    const config = configOf(`[${table}]\n${key} = ${value}\n`);
    return config === null ? "refused" : z.record(z.string(), z.record(z.string(), z.unknown())).parse(config)[table]?.[key];
  };
  test.each([
    ['"90"', 90],
    ['" 1_000 "', 1000],
    ['"1e1_0"', 1e10],
    ['".5"', 0.5],
    ['"1."', 1],
    ["true", 1],
    ["99999999999999999999999", 1e23],
    ['"٣"', "refused"],
    ['"0x10"', "refused"],
    ['"1__0"', "refused"],
    ['"_1"', "refused"],
    ['"infinit"', "refused"],
    ["1979-05-27", "refused"],
    ["[]", "refused"],
  ])("a number: %s → %j", (value, expected) => expect(inTable("agent", "timeout_sec", value)).toEqual(expected));
  test.each([
    ['"256.00"', 256],
    ['"+256"', 256],
    ['"0256"', 256],
    ["256.0", 256],
    ["1e18", 1e18],
    ["9223372036854775808", 2 ** 63],
    ['"256."', "refused"],
    ['"1e3"', "refused"],
    ['"+_1"', "refused"],
    ["1e19", "refused"],
    ["256.5", "refused"],
    ["inf", "refused"],
  ])("a whole number: %s → %j", (value, expected) => expect(inTable("environment", "memory_mb", value)).toEqual(expected));
  test.each([
    ["2.0", 2],
    ['"2.5"', 2.5],
    ['"1e3"', 1000],
    ["true", 1],
    ['"inf"', "refused"],
    ["07:00:00", "refused"],
  ])("processors: %s → %j", (value, expected) => expect(inTable("environment", "cpus", value)).toEqual(expected));
  test.each([
    ["1.0", 1],
    ['"1"', "1"],
    ["true", 1],
    ["1.5", "refused"],
  ])("a user: %s → %j", (value, expected) => expect(inTable("agent", "user", value)).toEqual(expected));
  test.each([
    ['"yes"', "public"],
    ['"OFF"', "no-network"],
    ["0.0", "no-network"],
    ["2", undefined],
    ['" true"', undefined],
  ])("allow_internet: %s → %j", (value, expected) => {
    const config = configOf(`[environment]\nallow_internet = ${value}\n`);
    expect(config).toEqual(expected === undefined ? null : { environment: { network_mode: expected } });
  });
  test.each([
    ['"1.5g"', 1536],
    ['"1_0G"', 10240],
    ['"٢G"', 2048],
    ['" 512m "', 512],
    ['"nanG"', null],
    ['"4096"', null],
  ])("an old size: %s → %j", (value, expected) => {
    expect(configOf(`[environment]\nmemory = ${value}\n`)).toEqual(expected === null ? null : { environment: { memory_mb: expected } });
  });
  test("hosts as Python's ipaddress writes them", () => {
    const hosts = [
      '"EXAMPLE.com."',
      '"10.0.0.0/255.0.0.0"',
      '"10.0.0.0/0.255.255.255"',
      '"0:0:1:0:0:1:0:0"',
      '"::ffff:1.2.3.0/120"',
      '"::1.2.3.4"',
      '"999.1.1.1"',
    ];
    expect(configOf(`[environment]\nnetwork_mode = "allowlist"\nallowed_hosts = [${hosts.join(", ")}]\n`)).toEqual({
      environment: {
        network_mode: "allowlist",
        allowed_hosts: ["example.com", "10.0.0.0/8", "10.0.0.0/8", "::1:0:0:1:0:0", "::ffff:1.2.3.0/120", "::102:304", "999.1.1.1"],
      },
    });
  });
  test("dates under [metadata] as ISO text", () => {
    expect(configOf("[metadata]\na = 1979-05-27 07:32:00z\nb = 07:32:00.1234567\nc = 1979-05-27T07:32:00.000+01:30\nd = 1979-05-27\n")).toEqual({
      metadata: { a: "1979-05-27T07:32:00Z", b: "07:32:00.123456", c: "1979-05-27T07:32:00+01:30", d: "1979-05-27" },
    });
  });
});

describe("lines", () => {
  test("of dotted keys, array elements and inline tables", () => {
    expect(faultsOf('environment.cpus = 2\nenvironment.memory_mb = "x"\n')).toEqual(['2: environment.memory_mb must be a whole number, not "x".']);
    expect(faultsOf('artifacts = [\n  "/app/a",\n  { source = "/app/../b" },\n]\n')).toEqual([
      '3: artifacts[1].source is "/app/../b", which contains `..`.',
    ]);
    expect(faultsOf('[[steps]]\nname = "a"\n\n[[steps]]\nname = "b"\n\n[steps.verifier]\ntimeout_sec = "soon"\n')).toEqual([
      '8: steps[1].verifier.timeout_sec must be a number, not "soon".',
    ]);
  });
  test("of text that is no TOML or no UTF-8", () => {
    expect(faultsOf("a = 1\nb = \n")[0]).toBe("2: This is not valid TOML: the key has no value.");
    expect(faultsOf('[task\nname = "a/b"\n')[0]).toMatch(/^1: /);
    expect(readTaskToml(Uint8Array.from([97, 61, 49, 10, 98, 61, 34, 255, 34])).faults).toMatchObject([
      { line: 2, message: "The file is not UTF-8 text." },
    ]);
    expect(faultsOf("\uFEFFa = 1\n")[0]).toMatch(/^1: .*byte order mark/);
  });
  test("line ends count as Python counts them", () => expect(faultsOf('[agent]\r\nuser = "a"\r[environment]\ncpus = nan')[0]).toMatch(/^4: /));
});

test("a dropped key near a known one says which", () => {
  expect(faultsOf("[environment]\ntimeout_sec = 3\nmemroy_mb = 5\n")).toEqual([
    "2: environment.timeout_sec is no key that Harbor knows and is dropped; remove it, or keep it under [metadata].",
    "3: environment.memroy_mb is no key that Harbor knows and is dropped; did you mean memory_mb?",
  ]);
});

test("whatever the bytes, there is a verdict and never an exception", () => {
  const piece = fc.constantFrom(
    "[",
    "]",
    "[[steps]]\n",
    "name",
    "=",
    '"',
    "'",
    "\n",
    "\r",
    "1",
    "{",
    "}",
    ",",
    ".",
    "#",
    "\\u0000",
    "é",
    "[environment]\n",
    "cpus",
    "nan",
    " ",
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.uint8Array({ maxLength: 60 }),
        fc.array(piece, { maxLength: 40 }).map((parts) => new TextEncoder().encode(parts.join(""))),
      ),
      (bytes) => {
        const { config, faults, document } = readTaskToml(bytes);
        expect(config === null).toBe(faults.some((fault) => fault.severity === "error"));
        if (document === null) expect(config).toBeNull();
        for (const fault of faults) expect(fault.line).toBeGreaterThan(0);
      },
    ),
    { numRuns: 300 },
  );
});
