import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readManifest, requireManifest } from "./read-manifest.ts";

const shipped = join(import.meta.dirname, "../../resources/harnesses");
const minimal = `id: mine
name: Mine
version: 1.0.0
licence: MIT
summary: A test.
install: { kind: bundled, path: . }
runtime: { kind: node }
dialects: [chat]
command: [node, agent.mjs]
prefix: exact
`;

test("every manifest that ships can be read", () => {
  for (const id of readdirSync(shipped)) {
    const reading = readManifest(readFileSync(join(shipped, id, "manifest.yaml"), "utf8"));
    expect(reading, id).toMatchObject({ ok: true, value: { id } });
  }
});

test("a small manifest gets the defaults", () => {
  const manifest = requireManifest(minimal, "manifest.yaml");
  expect(manifest).toMatchObject({
    instruction: "argument",
    limits: { contextWindow: 128_000 },
    quirks: { keepaliveComments: true },
  });
});

describe("each fault is one sentence with its line", () => {
  const cases: readonly (readonly [string, string, string, number])[] = [
    ["no yaml", "id: [\n", "", 2],
    ["a list", "- id\n", "The manifest is not a table of keys, as in `id: my-agent`.", 1],
    ["nothing", "", "The manifest is not a table of keys, as in `id: my-agent`.", 1],
    ["a key twice", `${minimal}id: other\n`, "Map keys must be unique.", 11],
    ["a key missing", minimal.replace("licence: MIT\n", ""), "`licence` is missing; it is a text.", 1],
    ["a wrong type", minimal.replace("[chat]", "chat"), "`dialects` must be a list.", 8],
    ["a wrong word", minimal.replace("[chat]", "[chat, smoke]"), "`dialects.1` must be one of chat, responses, messages, gemini.", 8],
    ["an unknown key", minimal.replace("runtime: { kind: node }", "runtime:\n  kind: node\n  speed: 3"), "`runtime`: unknown key `speed`.", 9],
    ["an id in capitals", minimal.replace("id: mine", "id: Mine"), "`id` must be lower-case letters, digits and hyphens, as in my-agent.", 1],
    ["an unknown install", minimal.replace("kind: bundled", "kind: brew"), "`install.kind` must be one of bundled, npm, pip, cargo.", 6],
    [
      "a range of versions",
      minimal.replace("{ kind: bundled, path: . }", "{ kind: npm, package: some-agent }"),
      "`install.package` must be a name and an exact version, as in my-agent@1.2.3.",
      6,
    ],
    ["a number as a version", minimal.replace("version: 1.0.0", "version: 1.0"), "`version` must be a text.", 3],
    ["a negative budget", `${minimal}limits: { setupSeconds: -1 }\n`, "`limits.setupSeconds` must be more than 0.", 11],
    ["a setting that is a list", `${minimal}settings: { words: [a] }\n`, "`settings.words` must be a text, a number or true or false.", 11],
    ["a folder that climbs", minimal.replace("path: .", "path: ../.."), "`install.path` must lie beside the manifest, without `..`.", 6],
    ["tabs", minimal.replace("runtime: { kind: node }", "runtime:\n\tkind: node"), "Tabs are not allowed as indentation; use spaces.", 8],
    ["two manifests", `${minimal}---\nid: other\n`, "The manifest must be one document; remove the second `---`.", 11],
    ["an unknown tag", minimal.replace("name: Mine", "name: !mine Mine"), "Unresolved tag: !mine.", 2],
    ["no command", minimal.replace("[node, agent.mjs]", "[]"), "`command` needs at least one entry.", 9],
  ];
  test.each(cases)("%s", (_name, text, message, line) => {
    const reading = readManifest(text);
    if (reading.ok) throw new Error("read without a fault");
    expect(reading.faults[0]?.line).toBe(line);
    if (message !== "") expect(reading.faults[0]?.message).toBe(message);
    expect(() => requireManifest(text, "m.yaml")).toThrow(`m.yaml:${line}: `);
  });
});
