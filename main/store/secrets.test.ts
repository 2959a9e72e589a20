import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Store } from "./contract.ts";
import { openStore } from "./open-store.ts";
import { sampleCall, sampleExperiment, sampleNode, sampleRollout } from "./records/sample-records.ts";

const secrets = {
  upstreamKey: "sk-live-51H8vQ2eZvKYlo2C",
  password: 'correct "horse"\\battery/stäple',
  cookie: "session-4f9a7c21d0",
};
const undeclared = "never-declared-bearer-value";

let folder = "";
let store: Store;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "openforge-secrets-"));
  store = openStore(folder);
  store.redactor.declare("upstream-key", secrets.upstreamKey, null);
  store.redactor.declare("password", secrets.password, "r1");
  store.redactor.declare("cookie", secrets.cookie, "r1");
});

afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Every written form that must not be found in any file. */
function forms(value: string): readonly string[] {
  return [
    value,
    JSON.stringify(value).slice(1, -1),
    JSON.stringify(JSON.stringify(value)).slice(3, -3),
    encodeURIComponent(value),
    new URLSearchParams({ v: value }).toString().slice(2),
    ...["", "x", "xy"].map((before) => Buffer.from(`${before}${value}`).toString("base64").slice(4, -4)),
    Buffer.from(value, "utf8").toString("latin1"),
  ];
}

function filesOf(path: string): readonly string[] {
  return readdirSync(path).flatMap((name) => (statSync(join(path, name)).isDirectory() ? filesOf(join(path, name)) : [join(path, name)]));
}

function expectNowhere(): void {
  const needles = [...Object.values(secrets).flatMap(forms), undeclared];
  for (const file of filesOf(folder)) {
    const bytes = readFileSync(file);
    for (const needle of needles) expect(bytes.includes(Buffer.from(needle)) ? `${file} holds ${needle}` : null).toBeNull();
  }
}

describe("secrets", () => {
  it("reach no file of the data folder, wherever they were planted", async () => {
    store.createExperiment(sampleExperiment("e1", { name: `about ${secrets.upstreamKey}`, spec: JSON.stringify({ key: secrets.upstreamKey }) }));
    store.createRollouts([sampleRollout("r1", "e1", { fingerprint: { note: secrets.password } })]);
    const prompt = JSON.stringify({
      messages: [
        { role: "user", content: `my password is ${secrets.password}` },
        { role: "assistant", tool_calls: [{ function: { arguments: JSON.stringify({ command: `login ${secrets.password}` }) } }] },
        { role: "tool", content: `Authorization: Basic ${Buffer.from(`user:${secrets.password}`).toString("base64")}` },
      ],
    });
    const answer = `data: ${JSON.stringify({ choices: [{ delta: { content: `the key is ${secrets.upstreamKey}` } }] })}\n\n`;
    const call = sampleCall(store, "r1", 0, Buffer.from(prompt), Buffer.from(answer), {
      path: `/v1/chat/completions?key=${encodeURIComponent(secrets.password)}`,
      requestHeaders: {
        authorization: `Bearer ${undeclared}`,
        cookie: `sid=${secrets.cookie}`,
        "x-api-key": undeclared,
        "x-forwarded-note": `carries ${secrets.upstreamKey}`,
      },
      session: { "thread-id": `t-${secrets.cookie}` },
      error: `upstream refused ${secrets.upstreamKey}`,
      status: "error",
    });
    await store.recordCallDurably(call, sampleNode(call.id));
    store.updateCall(call.id, { quarantined: `because of ${secrets.password}` });
    store.appendEvent({ at: 1, experimentId: "e1", rolloutId: "r1", type: "log", payload: JSON.stringify({ line: secrets.password }) });
    const log = store.blobs.put(Buffer.from(`curl -u user:${secrets.password}\nSet-Cookie: ${secrets.cookie}\n`));
    store.addArtifact({ rolloutId: "r1", attempt: 1, kind: "harness-log", name: `log-${secrets.cookie}.txt`, blob: log.hash, size: log.size });
    store.updateRollout("r1", {
      outcome: { status: "harness-failure", cause: null, action: "mask", detail: `failed with ${secrets.upstreamKey}` },
      trainableReason: `secret ${secrets.password}`,
    });
    store.setSetting("policies", JSON.stringify([{ key: secrets.upstreamKey }]));

    expectNowhere();
    await store.compact();
    expectNowhere();
    store.close();
    expectNowhere();
    store = openStore(folder);

    const stored = store.call(call.id);
    expect(stored?.requestHeaders).toMatchObject({ authorization: "Bearer [redacted:authorization]", cookie: "[redacted:cookie]" });
    const request = Buffer.from(store.blobs.get(call.requestBody) ?? []).toString();
    expect(request).toContain("my password is [redacted:password]");
    expect(JSON.parse(request).messages).toHaveLength(3);
    expect(store.setting("policies")).toBe('[{"key":"[redacted:upstream-key]"}]');
  });

  it("are reported with their place in the original, so that token ids can be blanked", () => {
    const prompt = Buffer.from(`{"content":"${secrets.cookie} and ${secrets.upstreamKey}"}`);
    const { hash, redactions } = store.blobs.put(prompt);
    expect(redactions.map((span) => [span.name, prompt.toString("utf8", span.start, span.end)])).toEqual([
      ["cookie", secrets.cookie],
      ["upstream-key", secrets.upstreamKey],
    ]);
    expect(store.blobs.redactions(hash)).toEqual(redactions);
    expect(Buffer.from(store.blobs.get(hash) ?? []).toString()).toBe('{"content":"[redacted:cookie] and [redacted:upstream-key]"}');
    expect(store.blobs.put(Buffer.from("harmless")).redactions).toEqual([]);
  });

  it("keep their spans with the body for later readers", async () => {
    store.createExperiment(sampleExperiment("e1"));
    store.createRollouts([sampleRollout("r1", "e1")]);
    const call = sampleCall(store, "r1", 0, Buffer.from(`x ${secrets.cookie}`), Buffer.from("y"));
    store.recordCall(call, null);
    const spans = [{ start: 2, end: 2 + secrets.cookie.length, name: "cookie" }];
    expect(store.blobs.redactions(call.requestBody)).toEqual(spans);
    await store.compact();
    expect(store.blobs.redactions(call.requestBody)).toEqual(spans);
  });
});
