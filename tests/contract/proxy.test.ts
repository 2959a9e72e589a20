/** The proxy as a harness meets it: over HTTP, with a server behind it that behaves well. */
import { execFileSync } from "node:child_process";
import { request as httpRequest } from "node:http";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readCall } from "../../main/proxy/index.ts";
import { type ChatBed, hello, layChatBed, say, until } from "../stand-ins/chat-bed.ts";

let bed: ChatBed;

beforeEach(async () => {
  bed = await layChatBed();
});
afterEach(async () => {
  await bed.close();
});

describe("an answer", () => {
  test("comes whole in both dialects, streamed or not, and is in the store with every byte", async () => {
    const { upstream } = await bed.serve((index) => say(`answer ${index}`));
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
    const { upstream } = await bed.serve(() => say("by socket"));
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
    const { upstream } = await bed.serve(() => ({ do: "body", body }));
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

test("the end of the agent phase cancels running calls and refuses late ones, which are recorded as such", async () => {
  const { upstream, server } = await bed.serve(() => ({ do: "hang" }));
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
  const { upstream, server } = await bed.serve(() => say(`it is ${secret}`));
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
