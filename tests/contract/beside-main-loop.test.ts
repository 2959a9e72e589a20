/** Requests that harnesses make beside their main loop: how many tokens a request would be, and side calls such as a title. */
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createUpstream, type Upstream } from "../../main/proxy/index.ts";
import { readTranscript, rebuildTrajectories } from "../../main/trajectories/index.ts";
import { layProxyBed, type ProxyBed } from "../stand-ins/proxy-bed.ts";

const policiesFolder = join(import.meta.dirname, "../../resources/policies");

let bed: ProxyBed;
let upstream: Upstream;
beforeEach(async () => {
  bed = await layProxyBed();
  const media = { put: (bytes: Uint8Array) => bed.store.blobs.put(bytes).hash, get: bed.store.blobs.get };
  upstream = await createUpstream(
    { kind: "scripted", id: "scripted", file: join(policiesFolder, "scripted.yaml") },
    { env: {}, policiesFolder, media },
  );
});
afterEach(async () => {
  await upstream.close();
  await bed.close();
});

const user = (text: string) => ({ role: "user", content: text });
const tools = [{ name: "bash", input_schema: { type: "object" } }];
const main = { model: "m", max_tokens: 99, tools, messages: [user("Count the files.")] };

test("a count is right, is kept with every byte, and is no call: numbers, chains and what the policy is told stay as they were", async () => {
  const ask = async (withCounts: boolean) => {
    const { post, rolloutId, session } = await bed.open(upstream, { tokenMode: "as-sampled" });
    const counts: unknown[] = [];
    const count = async (path: string, body: unknown): Promise<void> => {
      if (withCounts) counts.push(await (await post(path, body)).json());
    };
    await count("/messages/count_tokens", main);
    await (await post("/messages", main)).text();
    const contents = [{ role: "user", parts: [{ text: "Count the files." }] }];
    await count("/models/m:countTokens", { contents });
    await count("/models/m:countTokens", { generateContentRequest: { model: "models/m", contents } });
    await (await post("/messages", { ...main, messages: [user("Another thing.")] })).text();
    return {
      counts,
      rolloutId,
      stats: session.stats(),
      calls: bed.store.callsOf(rolloutId),
      trajectories: rebuildTrajectories(bed.store, rolloutId),
    };
  };
  const plain = await ask(false);
  const counted = await ask(true);
  expect(counted.calls.map(({ index, status }) => [index, status])).toEqual([
    [0, "counted"],
    [1, "ok"],
    [2, "counted"],
    [3, "counted"],
    [4, "ok"],
  ]);
  expect(counted.counts[0], "exactly what the call then had").toEqual({ input_tokens: counted.calls[1]?.promptTokens });
  expect(counted.counts[1]).toEqual(counted.counts[2]);
  const [first] = counted.calls;
  const bytes = (hash: (typeof counted.calls)[number]["responseBody"]) => Buffer.from((hash && bed.store.blobs.get(hash)) ?? []).toString();
  expect([bytes(first?.requestBody ?? null), bytes(first?.responseBody ?? null)]).toEqual([JSON.stringify(main), JSON.stringify(counted.counts[0])]);
  expect(first).toMatchObject({
    dialect: "messages",
    model: "m",
    capture: "nothing",
    promptTokens: 0,
    completionTokens: 0,
    httpStatus: 200,
    error: null,
  });
  expect({ ...counted.stats, tokenCounts: 0 }).toEqual(plain.stats);
  expect(counted.stats.tokenCounts).toBe(3);
  expect(bed.store.rollout(counted.rolloutId)).toMatchObject({ calls: 2 });
  const shape = ({ trajectories }: typeof plain) => ({
    ...trajectories,
    tokensOf: null,
    chainOfCall: null,
    chains: trajectories.chains.map(({ calls: _, ...chain }) => chain),
  });
  expect(shape(counted)).toEqual(shape(plain));
  const answers = ({ rolloutId, trajectories }: typeof plain) =>
    readTranscript(bed.store, rolloutId, trajectories).map(({ answer }) => answer?.message.content);
  expect(answers(counted), "a scripted policy counts its calls").toEqual(answers(plain));
  expect(await bed.store.check()).toEqual([]);
});

test("a count that can't be read is refused in its dialect, and kept", async () => {
  const { post, rolloutId } = await bed.open(upstream);
  const refused = await post("/messages/count_tokens", '{"messages":');
  expect([refused.status, await refused.json()]).toMatchObject([400, { type: "error", error: { type: "invalid_request_error" } }]);
  const encoded = await post("/models/m:countTokens", "{}", { headers: { "content-encoding": "snappy" } });
  expect([encoded.status, await encoded.json()]).toMatchObject([415, { error: { code: 415, status: expect.any(String) } }]);
  expect(bed.store.callsOf(rolloutId)).toMatchObject([
    { status: "counted", httpStatus: 400, error: expect.stringContaining("JSON") },
    { status: "counted", httpStatus: 415, error: expect.stringContaining("snappy") },
  ]);
});

test("a count belongs to the attached session that it goes on from; before there is one, it is answered only", async () => {
  const { attach, rolloutIds } = await bed.attach(upstream, "as-sampled");
  const post = async (path: string, body: unknown): Promise<unknown> => {
    const headers = { "x-api-key": attach.key, "content-type": "application/json" };
    return (await fetch(`http://${bed.proxy.address}${attach.path}/v1${path}`, { method: "POST", headers, body: JSON.stringify(body) })).json();
  };
  expect(await post("/messages/count_tokens", main)).toEqual({ input_tokens: expect.any(Number) });
  expect(rolloutIds).toEqual([]);
  const answer = (await post("/messages", main)) as { content: unknown };
  const next = { ...main, messages: [...main.messages, { role: "assistant", content: answer.content }, user("And now?")] };
  await post("/messages/count_tokens", next);
  expect(rolloutIds.map((id) => bed.store.callsOf(id).map(({ status }) => status))).toEqual([["ok", "counted"]]);
});

test("side calls, by a rule of the manifest or by their own word, are marked, chained apart and not trained", async () => {
  const quirks = {
    ...{ sessionHeaders: [], volatileFields: [], keepaliveComments: true, returnsForAnswer: true },
    sideCalls: [{ name: "title", model: "*-lite", tools: false }],
  };
  const { post, rolloutId, session } = await bed.open(upstream, { tokenMode: "as-sampled", quirks });
  await (await post("/messages", { model: "small-lite", max_tokens: 99, messages: [user("Name this.")] })).text();
  const answer = (await (await post("/messages", main)).json()) as { content: unknown };
  await (await post("/messages", { ...main, messages: [user("What is it about?")] }, { headers: { "x-openforge-side-call": "topic" } })).text();
  await (await post("/messages", { ...main, messages: [...main.messages, { role: "assistant", content: answer.content }, user("And now?")] })).text();
  expect(bed.store.callsOf(rolloutId).map(({ side }) => side)).toEqual(["title", null, "topic", null]);
  const { chains, trainable } = rebuildTrajectories(bed.store, rolloutId);
  expect(chains.map(({ calls, breakCause, trainable }) => [calls, breakCause, trainable])).toEqual([
    [[0], "side", false],
    [[1, 3], null, true],
    [[2], "side", false],
  ]);
  expect(trainable).toBe(true);
  expect(session.stats()).toMatchObject({ calls: 4, answered: 4 });
});
