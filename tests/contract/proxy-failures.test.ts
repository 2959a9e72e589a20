/** The proxy between servers that fail or are slow and clients that go away. */
import { request as httpRequest } from "node:http";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type ChatBed, hello, layChatBed, say, settled, until } from "../stand-ins/chat-bed.ts";
import type { Behaviour } from "../stand-ins/chat-server.ts";
import { FakeClock } from "../stand-ins/fake-clock.ts";

let bed: ChatBed;

beforeEach(async () => {
  bed = await layChatBed();
});
afterEach(async () => {
  await bed.close();
});

describe("an upstream that fails", () => {
  test("429 and 5xx are tried again until it answers: the client sees one clean answer", async () => {
    const clock = new FakeClock();
    const quick = await layChatBed({ clock });
    try {
      const { upstream, server } = await bed.serve(
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
    const quick = await layChatBed({ clock });
    try {
      const { upstream } = await bed.serve(() => ({ do: "refuse", status: 500 }));
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
    const { upstream, server } = await bed.serve(() => behaviour);
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
    const { upstream, server } = await bed.serve((index) => (index === 0 ? { do: "refuse", status: 400, body: refusal } : say("fits")));
    const { chat, rolloutId } = await bed.open(upstream);
    expect((await chat({ ...hello, max_tokens: 64_000 })).status).toBe(200);
    expect(JSON.parse(server.requests[1]?.body ?? "{}").max_tokens).toBe(64_001 - 24_235);
    expect(bed.store.eventsAfter(0, 100, { rolloutId }).some((event) => event.payload.includes("64000"))).toBe(true);
  });

  test("garbled or unreachable: the sentence says so, in an open stream too", async () => {
    const clock = new FakeClock();
    const quick = await layChatBed({ clock });
    try {
      const { upstream } = await bed.serve(() => ({ do: "body", body: "<html>welcome</html>" }));
      const garbled = await quick.open(upstream);
      const unreachable = await quick.open(await bed.upstreamAt("http://127.0.0.1:9"));
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
    const { upstream } = await bed.serve(() => ({ do: "body", body, contentType: "text/event-stream" }));
    const { chat } = await bed.open(upstream);
    expect(await (await chat(hello)).json()).toMatchObject({ choices: [{ message: { content: "streamed" } }], usage: { prompt_tokens: 5 } });
  });
});

describe("clients that go away", () => {
  test("and come back with the same body get the one answer that was sampled, in the shape they ask for", async () => {
    const { upstream, server } = await bed.serve((index) => ({ do: "say", text: `answer ${index}`, delayMs: 150 }));
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
    const { upstream, server } = await bed.serve(() => ({ do: "hang" }));
    const quirks = { sessionHeaders: [], volatileFields: [], keepaliveComments: true, returnsForAnswer: false };
    const { chat, rolloutId } = await bed.open(upstream, { quirks });
    await expect(chat(hello, { signal: AbortSignal.timeout(50) })).rejects.toThrow();
    await until(() => server.abandoned.length === 1);
    await until(() => bed.store.callsOf(rolloutId).length === 1);
    expect(bed.store.callsOf(rolloutId)).toMatchObject([{ status: "aborted", aborted: true, capture: "nothing" }]);
  });

  test("two equal bodies at once are two calls", async () => {
    const { upstream, server } = await bed.serve((index) => ({ do: "say", text: `answer ${index}`, delayMs: 50 }));
    const { chat } = await bed.open(upstream);
    const texts = await Promise.all([chat(hello), chat(hello)].map(async (response) => (await response).text()));
    expect(new Set(texts.map((text) => /answer \d/.exec(text)?.[0])).size).toBe(2);
    expect(server.requests).toHaveLength(2);
  });
});

test("a slow policy: the status line is held for eight seconds, then life every ten", async () => {
  const clock = new FakeClock();
  const quick = await layChatBed({ clock });
  try {
    const { upstream, server } = await bed.serve(() => ({ do: "hang" }));
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
