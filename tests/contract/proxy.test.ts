/** The proxy as a harness meets it: over HTTP, with a server behind it that behaves well or badly. */
import { execFileSync } from "node:child_process";
import { request as httpRequest } from "node:http";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createUpstream, readCall, type Upstream } from "../../main/proxy/index.ts";
import { type Behaviour, type ChatServer, startChatServer } from "../stand-ins/chat-server.ts";
import { FakeClock } from "../stand-ins/fake-clock.ts";
import { layProxyBed, type ProxyBed } from "../stand-ins/proxy-bed.ts";

let bed: ProxyBed;
let servers: ChatServer[];

beforeEach(async () => {
  bed = await layProxyBed();
  servers = [];
});
afterEach(async () => {
  await bed.close();
  for (const server of servers) await server.close();
});

async function upstreamOf(
  behave: (index: number, body: string) => Behaviour,
  over: object = {},
): Promise<{ server: ChatServer; upstream: Upstream }> {
  const server = await startChatServer(behave);
  servers.push(server);
  return { server, upstream: await upstreamAt(server.url, over) };
}
function upstreamAt(url: string, over: object = {}): Promise<Upstream> {
  const messageRules = { developer: "system", mergeSystem: true, mergeUser: false } as const;
  return createUpstream(
    { kind: "openai-compatible", id: "stand-in", url, messageRules, ...over },
    { env: {}, policiesFolder: "", media: { put: (bytes) => bed.store.blobs.put(bytes).hash, get: (hash) => bed.store.blobs.get(hash) } },
  );
}
const say = (text: string): Behaviour => ({ do: "say", text });
const hello = { model: "m", messages: [{ role: "user", content: "hello" }] };
const settled = (ms = 60): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
async function until(condition: () => boolean): Promise<void> {
  for (let tries = 0; tries < 200 && !condition(); tries += 1) await settled(10);
  expect(condition()).toBe(true);
}

describe("an answer", () => {
  test("comes whole in both dialects, streamed or not, and is in the store with every byte", async () => {
    const { upstream } = await upstreamOf((index) => say(`answer ${index}`));
    const { chat, responses, rolloutId, session } = await bed.open(upstream);
    expect(await (await chat(hello)).json()).toMatchObject({ choices: [{ message: { content: "answer 0" } }], usage: { prompt_tokens: 11 } });
    expect(await (await chat({ ...hello, stream: true })).text()).toContain("data: [DONE]");
    expect(await (await responses({ model: "m", input: "hello" })).json()).toMatchObject({ status: "completed" });
    const streamed = await responses({ model: "m", input: "hello", stream: true });
    expect(streamed.headers.get("content-type")).toContain("text/event-stream");
    const text = await streamed.text();
    const calls = bed.store.callsOf(rolloutId);
    expect(calls.map((call) => [call.index, call.dialect, call.status, call.stream, call.capture])).toEqual([
      [0, "chat", "ok", false, "text-only"],
      [1, "chat", "ok", true, "text-only"],
      [2, "responses", "ok", false, "text-only"],
      [3, "responses", "ok", true, "text-only"],
    ]);
    const last = calls[3];
    if (last?.responseBody == null) throw new Error("no call");
    expect(Buffer.from(bed.store.blobs.get(last.responseBody) ?? []).toString()).toBe(text);
    expect(readCall(bed.store, last)).toMatchObject({
      conversation: { messages: [{ role: "user", content: [{ text: "hello" }] }] },
      answer: { message: { content: [{ text: "answer 3" }] }, finishReason: "stop" },
    });
    expect(session.stats()).toMatchObject({ calls: 4, answered: 4, capture: "text-only", failing: false, promptTokens: 44 });
  });

  test("comes over the session's own unix socket, and that socket opens this rollout only", async () => {
    const { upstream } = await upstreamOf(() => say("by socket"));
    const here = await bed.open(upstream, { socketFolder: bed.folder });
    const other = await bed.open(upstream);
    const ask = (path: string, key: string): Promise<{ status: number; text: string }> =>
      new Promise((resolve, reject) => {
        const outgoing = httpRequest(
          { socketPath: here.session.socketPath ?? "", path, method: "POST", headers: { authorization: `Bearer ${key}` } },
          (response) => {
            let text = "";
            response.on("data", (chunk) => {
              text += String(chunk);
            });
            response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
          },
        );
        outgoing.once("error", reject);
        outgoing.end(JSON.stringify(hello));
      });
    expect(await ask(`${here.session.path}/v1/chat/completions`, here.session.key)).toMatchObject({
      status: 200,
      text: expect.stringContaining("by socket"),
    });
    expect(await ask(`${other.session.path}/v1/chat/completions`, other.session.key)).toMatchObject({ status: 401 });
    await here.session.close();
    await expect(ask(`${here.session.path}/v1/chat/completions`, here.session.key)).rejects.toThrow();
  });

  test("has canonical arguments, ids of their own, and a finish reason that fits", async () => {
    const calls = [
      { id: "", type: "function", function: { name: "f", arguments: '{ "b" : 1.0, "a": "\\u003e" }' } },
      { id: "", type: "function", function: { name: "f", arguments: "{}" } },
    ];
    const body = JSON.stringify({
      choices: [{ message: { content: null, tool_calls: calls }, finish_reason: "stop" }],
      usage: { prompt_tokens: 1, completion_tokens: 2 },
    });
    const { upstream } = await upstreamOf(() => ({ do: "body", body }));
    const { chat } = await bed.open(upstream);
    const answer = (await (await chat(hello)).json()) as {
      choices: { finish_reason: string; message: { tool_calls: { id: string; function: { arguments: string } }[] } }[];
    };
    const choice = answer.choices[0];
    expect(choice?.finish_reason).toBe("tool_calls");
    expect(choice?.message.tool_calls.map((call) => call.function.arguments)).toEqual(['{"b":1.0,"a":">"}', "{}"]);
    expect(new Set(choice?.message.tool_calls.map((call) => call.id)).size).toBe(2);
  });
});

describe("a request that can't be served gets one clear sentence in its dialect", () => {
  const errorOf = async (response: Response): Promise<{ status: number; message: string; code: string }> => {
    const { error } = (await response.json()) as { error: { message: string; code: string } };
    return { status: response.status, ...error };
  };

  test("wrong key, no key, another rollout's key, another route, an unknown path", async () => {
    const { upstream, server } = await upstreamOf(() => say("x"));
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
    const { upstream } = await upstreamOf(() => say("x"));
    const { base, session } = await bed.open(upstream);
    expect((await fetch(`${base}/api/hello`, { method: "HEAD" })).status).toBe(200);
    const models = await fetch(`${base}/models`, { headers: { "x-api-key": session.key } });
    expect(await models.json()).toMatchObject({ object: "list", data: [{ id: "stand-in", object: "model" }] });
    expect(session.stats().calls).toBe(0);
  });

  test("a body that is no JSON, no UTF-8, no request, encoded unknowingly or wrongly, or nested beyond reason", async () => {
    const { upstream } = await upstreamOf(() => say("x"));
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
    const { upstream } = await upstreamOf(() => say("x"));
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
    const { upstream, server } = await upstreamOf(() => say("seen"));
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
    const { upstream } = await upstreamOf(() => say("read"));
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
    const { upstream, server } = await upstreamOf(() => say("x"));
    const { chat, rolloutId } = await bed.open(upstream);
    const body = '{"model":"m","messages":[{"role":"user","content":"done \\ud83d"}]}';
    expect((await chat(body)).status).toBe(200);
    expect(JSON.parse(server.requests[0]?.body ?? "{}").messages[0].content).toBe("done \ufffd");
    const call = bed.store.callsOf(rolloutId)[0];
    expect(Buffer.from((call && bed.store.blobs.get(call.requestBody)) ?? []).toString()).toBe(body);
    expect(bed.store.eventsAfter(0, 100, { rolloutId }).some((event) => event.type === "call.note" && event.payload.includes("U+FFFD"))).toBe(true);
  });
});

describe("an upstream that fails", () => {
  test("429 and 5xx are tried again until it answers: the client sees one clean answer", async () => {
    const clock = new FakeClock();
    const quick = await layProxyBed({ clock });
    try {
      const { upstream, server } = await upstreamOf(
        (index) =>
          [{ do: "refuse", status: 429, headers: { "retry-after": "7" } }, { do: "refuse", status: 503 }, { do: "cut" }, say("at last")][
            index
          ] as Behaviour,
      );
      const { chat, rolloutId } = await quick.open(upstream);
      const answer = chat(hello);
      for (let tries = 1; tries < 4; tries += 1) {
        await until(() => server.requests.length === tries);
        await settled();
        if (tries === 1) {
          clock.advance(6_900);
          await settled();
          expect(server.requests, "Retry-After is honoured").toHaveLength(1);
        }
        clock.advance(5_000);
      }
      expect(await (await answer).json()).toMatchObject({ choices: [{ message: { content: "at last" } }] });
      expect(quick.store.callsOf(rolloutId)).toMatchObject([{ status: "ok", upstreamRetries: 3 }]);
    } finally {
      await quick.close();
    }
  });

  test("for good: one error of its kind, after a bounded time", async () => {
    const clock = new FakeClock();
    const quick = await layProxyBed({ clock });
    try {
      const { upstream } = await upstreamOf(() => ({ do: "refuse", status: 500 }));
      const { chat, rolloutId, session } = await quick.open(upstream);
      const answer = chat(hello);
      let status = 0;
      answer.then((response) => {
        status = response.status;
      });
      for (let round = 0; round < 20 && status === 0; round += 1) {
        await settled();
        clock.advance(25_000);
      }
      expect(await (await answer).text()).toContain("The policy server says (500): no");
      expect(quick.store.callsOf(rolloutId)).toMatchObject([{ status: "error", httpStatus: 500, upstreamRetries: 5 }]);
      expect(session.stats()).toMatchObject({ failing: true, lastFailure: { kind: "server-error" } });
    } finally {
      await quick.close();
    }
  });

  test.each<[string, Behaviour, number, string]>([
    ["a refusal", { do: "refuse", status: 400, body: '{"error":{"message":"bad tool"}}' }, 400, "invalid_request"],
    [
      "an overflow in the engine's words",
      {
        do: "refuse",
        status: 400,
        body: '{"object":"error","message":"This model\'s maximum context length is 64001 tokens. However, you requested 70000 tokens (70000 in the messages, 0 in the completion)."}',
      },
      400,
      "context_length_exceeded",
    ],
    [
      "a template that raises",
      { do: "refuse", status: 500, body: '{"error":{"message":"jinja2.exceptions.TemplateError: Conversation roles must alternate"}}' },
      400,
      "invalid_request",
    ],
    ["a wrong key of the policy", { do: "refuse", status: 401 }, 400, "policy_refused_key"],
  ])("%s is told at once", async (_, behaviour, status, code) => {
    const { upstream, server } = await upstreamOf(() => behaviour);
    const { chat } = await bed.open(upstream);
    const response = await chat(hello);
    expect([response.status, ((await response.json()) as { error: { code: string } }).error.code]).toEqual([status, code]);
    expect(server.requests).toHaveLength(1);
  });

  test("too large an answer asked for is made smaller, and noted", async () => {
    const refusal = JSON.stringify({
      message:
        "This model's maximum context length is 64001 tokens. However, you requested 88235 tokens (24235 in the messages, 64000 in the completion).",
    });
    const { upstream, server } = await upstreamOf((index) => (index === 0 ? { do: "refuse", status: 400, body: refusal } : say("fits")));
    const { chat, rolloutId } = await bed.open(upstream);
    expect((await chat({ ...hello, max_tokens: 64_000 })).status).toBe(200);
    expect(JSON.parse(server.requests[1]?.body ?? "{}").max_tokens).toBe(64_001 - 24_235);
    expect(bed.store.eventsAfter(0, 100, { rolloutId }).some((event) => event.payload.includes("64000"))).toBe(true);
  });

  test("garbled or unreachable: the sentence says so, in an open stream too", async () => {
    const clock = new FakeClock();
    const quick = await layProxyBed({ clock });
    try {
      const { upstream } = await upstreamOf(() => ({ do: "body", body: "<html>welcome</html>" }));
      const garbled = await quick.open(upstream);
      const unreachable = await quick.open(await upstreamAt("http://127.0.0.1:9"));
      const answers = [garbled.chat(hello), unreachable.responses({ model: "m", input: "x", stream: true })];
      const texts: string[] = [];
      for (const answer of answers) answer.then(async (response) => texts.push(await response.text()));
      for (let round = 0; round < 40 && texts.length < 2; round += 1) {
        await settled(30);
        clock.advance(12_000);
      }
      expect(texts.join("\n")).toContain("gave an answer that can't be read");
      expect(texts.join("\n")).toContain("nothing listens there");
      expect(texts.some((text) => text.startsWith(": waiting") && text.includes("event: response.failed"))).toBe(true);
    } finally {
      await quick.close();
    }
  });

  test("a server that streams although it was not asked to is read all the same", async () => {
    const chunk = (delta: object, finish: string | null) => `data: ${JSON.stringify({ choices: [{ delta, finish_reason: finish }] })}\r\n\r\n`;
    const body = `${chunk({ content: "str" }, null)}${chunk({ content: "eamed" }, "stop")}data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":2}}\r\n\r\ndata: [DONE]\r\n\r\n`;
    const { upstream } = await upstreamOf(() => ({ do: "body", body, contentType: "text/event-stream" }));
    const { chat } = await bed.open(upstream);
    expect(await (await chat(hello)).json()).toMatchObject({ choices: [{ message: { content: "streamed" } }], usage: { prompt_tokens: 5 } });
  });
});

describe("clients that go away", () => {
  test("and come back with the same body get the one answer that was sampled, in the shape they ask for", async () => {
    const { upstream, server } = await upstreamOf((index) => ({ do: "say", text: `answer ${index}`, delayMs: 150 }));
    const { chat, rolloutId } = await bed.open(upstream);
    await expect(chat({ ...hello, stream: true }, { signal: AbortSignal.timeout(50) })).rejects.toThrow();
    await until(() => bed.store.callsOf(rolloutId).length === 1);
    expect(bed.store.callsOf(rolloutId)).toMatchObject([{ status: "aborted", aborted: true }]);
    const again = await chat({ stream: false, messages: hello.messages, model: "m" });
    expect(await again.json()).toMatchObject({ choices: [{ message: { content: "answer 0" } }] });
    await until(() => bed.store.callsOf(rolloutId)[0]?.status === "ok");
    expect(bed.store.callsOf(rolloutId)).toMatchObject([{ status: "ok", aborted: false, replays: 1 }]);
    expect(server.requests).toHaveLength(1);
    expect(await (await chat(hello)).json(), "after a whole answer the same body is a new call").toMatchObject({
      choices: [{ message: { content: "answer 1" } }],
    });
    expect(bed.store.callsOf(rolloutId)).toHaveLength(2);
  });

  test("for good: the upstream is let go within a second", async () => {
    const { upstream, server } = await upstreamOf(() => ({ do: "hang" }));
    const quirks = { sessionHeaders: [], volatileFields: [], keepaliveComments: true, returnsForAnswer: false };
    const { chat, rolloutId } = await bed.open(upstream, { quirks });
    await expect(chat(hello, { signal: AbortSignal.timeout(50) })).rejects.toThrow();
    await until(() => server.abandoned.length === 1);
    await until(() => bed.store.callsOf(rolloutId).length === 1);
    expect(bed.store.callsOf(rolloutId)).toMatchObject([{ status: "aborted", aborted: true, capture: "nothing" }]);
  });

  test("two equal bodies at once are two calls", async () => {
    const { upstream, server } = await upstreamOf((index) => ({ do: "say", text: `answer ${index}`, delayMs: 50 }));
    const { chat } = await bed.open(upstream);
    const texts = await Promise.all([chat(hello), chat(hello)].map(async (response) => (await response).text()));
    expect(new Set(texts.map((text) => /answer \d/.exec(text)?.[0])).size).toBe(2);
    expect(server.requests).toHaveLength(2);
  });
});

test("a slow policy: the status line is held for eight seconds, then life every ten", async () => {
  const clock = new FakeClock();
  const quick = await layProxyBed({ clock });
  try {
    const { upstream, server } = await upstreamOf(() => ({ do: "hang" }));
    const { base, session } = await quick.open(upstream);
    let seen = "";
    let status = 0;
    const outgoing = httpRequest(`${base}/chat/completions`, { method: "POST", headers: { authorization: `Bearer ${session.key}` } }, (response) => {
      status = response.statusCode ?? 0;
      response.on("data", (chunk) => {
        seen += String(chunk);
      });
    });
    outgoing.on("error", () => undefined);
    outgoing.end(JSON.stringify({ ...hello, stream: true }));
    await until(() => server.requests.length === 1);
    clock.advance(7_900);
    await settled();
    expect(status).toBe(0);
    clock.advance(100);
    await until(() => seen === ": waiting\n\n");
    expect(status).toBe(200);
    clock.advance(9_900);
    await settled();
    expect(seen).toBe(": waiting\n\n");
    clock.advance(100);
    await until(() => seen === ": waiting\n\n: keepalive\n\n");
    outgoing.destroy();
  } finally {
    await quick.close();
  }
});

test("the end of the agent phase cancels running calls and refuses late ones, which are recorded as such", async () => {
  const { upstream, server } = await upstreamOf(() => ({ do: "hang" }));
  const { chat, rolloutId, session } = await bed.open(upstream);
  const running = chat(hello);
  await until(() => server.requests.length === 1);
  session.endAgentPhase();
  expect((await running).status).toBe(409);
  await until(() => server.abandoned.length === 1);
  expect((await chat({ ...hello, model: "late" })).status).toBe(409);
  expect(bed.store.callsOf(rolloutId)).toMatchObject([
    { late: false, status: "aborted", httpStatus: 409 },
    { late: true, status: "error", model: "late" },
  ]);
  expect(session.stats()).toMatchObject({ calls: 2, late: 1, answered: 0 });
});

test("secrets reach neither the records nor the bodies, and what was sampled beside one is marked", async () => {
  const secret = 's3cr3t-value-"quoted"';
  const { upstream, server } = await upstreamOf(() => say(`it is ${secret}`));
  const { chat, rolloutId, session } = await bed.open(upstream, { secrets: [{ name: "API_TOKEN", value: secret }] });
  await (
    await chat(
      { model: "m", messages: [{ role: "user", content: `use ${secret}` }] },
      { headers: { cookie: "sid=cookie-value-1234", "session-id": "s-1" } },
    )
  ).text();
  expect(server.requests[0]?.body, "the policy is asked as the harness asked").toContain(JSON.stringify(secret).slice(1, -1));
  expect(bed.store.callsOf(rolloutId)).toMatchObject([{ quarantined: "secret-seen", session: { "session-id": "s-1" } }]);
  expect(session.stats().secretSeen).toBe(true);
  await bed.store.compact();
  for (const hidden of ["s3cr3t-value", session.key, "cookie-value-1234"])
    expect(() => execFileSync("grep", ["-r", "-a", "-q", "-F", hidden, bed.folder]), hidden).toThrow();
});
