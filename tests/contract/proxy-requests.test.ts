/** What harnesses send: requests that can't be served, and bodies of every size, encoding and content. */
import { request as httpRequest } from "node:http";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readCall } from "../../main/proxy/index.ts";
import { type ChatBed, hello, layChatBed, say } from "../stand-ins/chat-bed.ts";

let bed: ChatBed;

beforeEach(async () => {
  bed = await layChatBed();
});
afterEach(async () => {
  await bed.close();
});

describe("a request that can't be served gets one clear sentence in its dialect", () => {
  const errorOf = async (response: Response): Promise<{ status: number; message: string; code: string }> => {
    const { error } = (await response.json()) as { error: { message: string; code: string } };
    return { status: response.status, ...error };
  };

  test("wrong key, no key, another rollout's key, another route, an unknown path", async () => {
    const { upstream, server } = await bed.serve(() => say("x"));
    const here = await bed.open(upstream);
    const other = await bed.open(upstream);
    const withKey = (key: string): RequestInit => ({ headers: { authorization: `Bearer ${key}` } });
    expect(await errorOf(await here.chat(hello, withKey("ofr-nope")))).toMatchObject({ status: 401, code: "invalid_api_key" });
    expect(await errorOf(await here.responses({ input: "x" }, withKey(other.session.key)))).toMatchObject({ status: 401 });
    expect(here.session.stats().refused).toBe(2);
    const outside = await fetch(`http://${bed.proxy.address}/api/outcomes`, { method: "POST", ...withKey(here.session.key) });
    expect(await errorOf(outside)).toMatchObject({ status: 403, code: "route_not_allowed" });
    expect((await fetch(`http://${bed.proxy.address}/`)).status).toBe(404);
    const unknown = await fetch(`${here.base}/embeddings`, { method: "POST", body: "{}", ...withKey(here.session.key) });
    expect(await errorOf(unknown)).toMatchObject({ status: 404, code: "unknown_path" });
    expect(bed.store.callsOf(here.rolloutId)).toMatchObject([
      { status: "not-found", dialect: "unknown", httpStatus: 404, path: `${here.session.path}/v1/embeddings` },
    ]);
    expect(here.session.stats()).toMatchObject({ calls: 0, unknownPaths: 1 });
    expect(server.requests).toHaveLength(0);
  });

  test("health and models", async () => {
    const { upstream } = await bed.serve(() => say("x"));
    const { base, session } = await bed.open(upstream);
    expect((await fetch(`${base}/api/hello`, { method: "HEAD" })).status).toBe(200);
    const models = await fetch(`${base}/models`, { headers: { "x-api-key": session.key } });
    expect(await models.json()).toMatchObject({ object: "list", data: [{ id: "stand-in", object: "model" }] });
    expect(session.stats().calls).toBe(0);
  });

  test("a body that is no JSON, no UTF-8, no request, encoded unknowingly or wrongly, or nested beyond reason", async () => {
    const { upstream } = await bed.serve(() => say("x"));
    const { chat, responses, rolloutId } = await bed.open(upstream);
    expect(await errorOf(await chat('{"messages":'))).toMatchObject({ status: 400, code: "invalid_json" });
    expect(await errorOf(await chat(Buffer.from([0x7b, 0xff, 0x7d])))).toMatchObject({ status: 400, message: expect.stringContaining("UTF-8") });
    expect(await errorOf(await responses({ messages: [] }))).toMatchObject({ status: 400, message: expect.stringContaining("input") });
    expect(await errorOf(await chat(hello, { headers: { "content-encoding": "compress" } }))).toMatchObject({ status: 415 });
    expect(await errorOf(await chat("not gzip", { headers: { "content-encoding": "gzip" } }))).toMatchObject({ status: 400 });
    expect(await errorOf(await chat(`{"messages":[{"role":"user","content":"x"}],"deep":${"[".repeat(5000)}${"]".repeat(5000)}}`))).toMatchObject({
      status: 400,
    });
    const calls = bed.store.callsOf(rolloutId);
    expect(calls).toHaveLength(6);
    expect(calls.every((call) => call.status === "error" && call.error !== null)).toBe(true);
  });

  test("a body beyond the limit, whether it says so, hides it in a compression or just goes on", async () => {
    const { upstream } = await bed.serve(() => say("x"));
    const { chat, base, session } = await bed.open(upstream);
    const huge = Buffer.alloc(65 * 1024 * 1024, 32);
    expect((await chat(gzipSync(huge), { headers: { "content-encoding": "gzip" } })).status).toBe(413);
    const status = await new Promise<number>((resolve, reject) => {
      const outgoing = httpRequest(
        `${base}/chat/completions`,
        { method: "POST", headers: { authorization: `Bearer ${session.key}`, "transfer-encoding": "chunked" } },
        (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        },
      );
      outgoing.on("error", (error) => reject(error));
      outgoing.write(huge);
    }).catch(() => 413);
    expect(status).toBe(413);
  });
});

describe("bodies", () => {
  test("of ten megabytes with images pass, and an image is kept once", async () => {
    const { upstream, server } = await bed.serve(() => say("seen"));
    const { chat, rolloutId } = await bed.open(upstream);
    const image = `data:image/png;base64,${Buffer.alloc(7_500_000, 7).toString("base64")}`;
    const body = { model: "m", messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: image } }] }] };
    expect((await chat(body)).status).toBe(200);
    expect(JSON.parse(server.requests[0]?.body ?? "{}").messages[0].content[0].image_url.url).toBe(image);
    const [call] = bed.store.callsOf(rolloutId);
    if (call === undefined) throw new Error("no call");
    expect(Buffer.from(bed.store.blobs.get(call.requestBody) ?? []).toString()).toBe(JSON.stringify(body));
    expect(readCall(bed.store, call).conversation?.messages[0]).toMatchObject({ content: [{ type: "image", source: { kind: "blob" } }] });
  });

  test("gzip, br, deflate and zstd are undone and stored plain", async () => {
    const { upstream } = await bed.serve(() => say("read"));
    const { chat, rolloutId } = await bed.open(upstream);
    const plain = Buffer.from(JSON.stringify(hello));
    // The same body, made by the zstd command; Node before 22.15 has no zstd.
    const zstd = Buffer.from("KLUv/QRY4QEAeyJtb2RlbCI6Im0iLCJtZXNzYWdlcyI6W3sicm9sZSI6InVzZXIiLCJjb250ZW50IjoiaGVsbG8ifV195Guj8w==", "base64");
    for (const [name, bytes] of [
      ["gzip", gzipSync(plain)],
      ["br", brotliCompressSync(plain)],
      ["deflate", deflateSync(plain)],
      ["zstd", zstd],
    ] as const)
      expect((await chat(bytes, { headers: { "content-encoding": name } })).status, name).toBe(200);
    for (const call of bed.store.callsOf(rolloutId)) expect(Buffer.from(bed.store.blobs.get(call.requestBody) ?? [])).toEqual(plain);
    const cut = await chat(zstd.subarray(0, zstd.length - 6), { headers: { "content-encoding": "zstd" } });
    expect(cut.status).toBe(400);
  });

  test("half a character goes on as U+FFFD, is kept as it came, and is noted", async () => {
    const { upstream, server } = await bed.serve(() => say("x"));
    const { chat, rolloutId } = await bed.open(upstream);
    const body = '{"model":"m","messages":[{"role":"user","content":"done \\ud83d"}]}';
    expect((await chat(body)).status).toBe(200);
    expect(JSON.parse(server.requests[0]?.body ?? "{}").messages[0].content).toBe("done \ufffd");
    const call = bed.store.callsOf(rolloutId)[0];
    expect(Buffer.from((call && bed.store.blobs.get(call.requestBody)) ?? []).toString()).toBe(body);
    expect(bed.store.eventsAfter(0, 100, { rolloutId }).some((event) => event.type === "call.note" && event.payload.includes("U+FFFD"))).toBe(true);
  });
});
