import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { WorkbenchError } from "../../errors.ts";
import { createRedactor } from "./redactor.ts";

const awkward = 'pä"ss/w\\rd\n+=&? ~!漢字';

function redactorFor(value: string) {
  const redactor = createRedactor();
  redactor.declare("key", value, null);
  return redactor;
}

describe("createRedactor", () => {
  it.each([
    ["raw", (value: string) => `before ${value} after`],
    ["JSON", (value: string) => JSON.stringify({ content: `x${value}y` })],
    ["JSON inside JSON", (value: string) => JSON.stringify({ arguments: JSON.stringify({ command: `echo ${value}` }) })],
    ["JSON three deep", (value: string) => JSON.stringify([JSON.stringify([JSON.stringify([value])])])],
    ["ASCII-only JSON", (value: string) => JSON.stringify(value).replace(/[^ -~]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`)],
    ["URL component", (value: string) => `/v1/models?key=${encodeURIComponent(value)}&x=1`],
    ["URL component, lower case", (value: string) => encodeURIComponent(value).replace(/%../g, (octet) => octet.toLowerCase())],
    ["form field", (value: string) => new URLSearchParams({ value }).toString()],
  ])("blanks the %s form", (_name, write) => {
    for (const value of [awkward, "sk-live-0123456789abcdef", "hunter2"]) {
      const redacted = redactorFor(value).text(write(value));
      expect(redacted).toContain("[redacted:key]");
      expect(redacted).not.toContain(value);
      expect(redacted.replaceAll("[redacted:key]", "")).toBe(write("").replaceAll("[redacted:key]", ""));
    }
  });

  it("blanks base64 and base64url whatever stands before and after", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary", minLength: 6, maxLength: 40 }),
        fc.string({ maxLength: 5 }),
        fc.string({ maxLength: 5 }),
        (secret, left, right) => {
          const redactor = redactorFor(secret);
          for (const alphabet of ["base64", "base64url"] as const) {
            const encoded = Buffer.from(left + secret + right).toString(alphabet);
            expect(redactor.text(encoded)).toContain("[redacted:key]");
          }
        },
      ),
    );
  });

  it("reports spans of the original and leaves every other byte alone", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 60 }), { minLength: 1, maxLength: 5 }), (parts) => {
        const secret = Buffer.from("the-secret-value");
        const original = Buffer.concat(parts.flatMap((part, index) => (index === 0 ? [part] : [secret, part])));
        const { bytes, spans } = redactorFor("the-secret-value").bytes(original);
        expect(spans).toHaveLength(parts.length - 1);
        expect(spans.every((span) => original.subarray(span.start, span.end).equals(secret) && span.name === "key")).toBe(true);
        expect(
          Buffer.from(bytes).equals(Buffer.concat(parts.flatMap((part, index) => (index === 0 ? [part] : [Buffer.from("[redacted:key]"), part])))),
        ).toBe(true);
      }),
    );
  });

  it("gives back the same bytes when nothing was found", () => {
    const bytes = Buffer.from("nothing to hide");
    const result = redactorFor("another-value").bytes(bytes);
    expect(result.bytes).toBe(bytes);
    expect(result.spans).toEqual([]);
  });

  it("blanks credential headers always, others only where a secret stands", () => {
    const redactor = redactorFor("declared-secret");
    expect(
      redactor.headers({
        Authorization: "Bearer abc.def",
        "x-api-key": "abc",
        cookie: "a=b",
        "set-cookie": "c=d",
        "x-goog-api-key": "k",
        "x-auth-token": "t",
        "session-id": "1234",
        "x-note": "has declared-secret inside",
        "content-type": "application/json",
      }),
    ).toEqual({
      Authorization: "Bearer [redacted:authorization]",
      "x-api-key": "[redacted:x-api-key]",
      cookie: "[redacted:cookie]",
      "set-cookie": "[redacted:set-cookie]",
      "x-goog-api-key": "[redacted:x-goog-api-key]",
      "x-auth-token": "[redacted:x-auth-token]",
      "session-id": "1234",
      "x-note": "has [redacted:key] inside",
      "content-type": "application/json",
    });
  });

  it("forgets a rollout's secrets and keeps those of others, even of the same value", () => {
    const redactor = createRedactor();
    redactor.declare("a", "shared-secret", "one");
    redactor.declare("b", "shared-secret", "two");
    redactor.forget("one");
    expect(redactor.text("shared-secret")).toBe("[redacted:b]");
    redactor.forget("two");
    expect(redactor.text("shared-secret")).toBe("shared-secret");
  });

  it("refuses a value too short to be told from text", () => {
    expect(() => createRedactor().declare("pin", "12345", null)).toThrow(WorkbenchError);
  });

  it("copes with lone surrogates", () => {
    expect(redactorFor("abc\ud83dxyz").text("nothing")).toBe("nothing");
  });
});
