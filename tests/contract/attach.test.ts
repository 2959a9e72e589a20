/** Programs outside any sandbox: a recorded address, sessions told apart, verdicts and corrections, and what is learnt from them. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { correctionsOf, createAttachService } from "../../main/attach/index.ts";
import { bootWorkbench, type Workbench } from "../../main/boot.ts";

let folder = "";
let workbench: Workbench;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "attach-"));
  workbench = await bootWorkbench({ dataFolder: join(folder, "data") });
});
afterAll(async () => {
  await workbench.close();
  rmSync(folder, { recursive: true, force: true });
});

async function post(
  url: string,
  key: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ status: number; json: unknown }> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}`, "user-agent": "my-agent/1.2 (test)", ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, json: await response.json() };
}
const user = (content: string) => ({ role: "user", content });

test("calls of several dialects become sessions with verdicts and corrections; the key opens nothing else", async () => {
  const { attach, store, proxy } = workbench;
  const attached = await attach.start({ name: "trial", policy: "scripted" });
  const chat = `${attached.dialects.chat}/chat/completions`;

  const first = await post(chat, attached.key, { model: "m", messages: [user("hello")] });
  expect(first.status).toBe(200);
  const said = (first.json as { choices: { message: { content: string } }[] }).choices[0]?.message ?? { content: "" };
  await post(chat, attached.key, { model: "m", messages: [user("hello"), said, user("and now?")] });
  // An equal opening is another conversation; a named session is one whatever it says.
  await post(chat, attached.key, { model: "m", messages: [user("hello")], temperature: 0.5 });
  const messages = { model: "m", max_tokens: 50, messages: [user("one")] };
  const named = { "x-claude-code-session-id": "s-1" };
  await post(`${attached.dialects.messages}/v1/messages`, attached.key, messages, named);
  await post(`${attached.dialects.messages}/v1/messages`, attached.key, { ...messages, messages: [user("two")] }, named);
  expect((await post(`${attached.dialects.messages}/v1/messages/count_tokens`, attached.key, messages)).json).toEqual({
    input_tokens: expect.any(Number),
  });
  expect((await post(chat, "of-wrong", { model: "m", messages: [user("x")] })).status).toBe(401);
  expect((await post(chat, attached.key, { model: "m", messages: [] })).status).toBe(400);
  expect((await post(`http://${proxy.address}/api/anything`, attached.key, {})).status).toBe(403);

  expect(attach.counts(attached.id)).toEqual({ sessions: 3, calls: 5 });
  const { key: _told, ...address } = attached;
  expect(attach.list()).toEqual([{ ...address, name: "trial", policy: "scripted", startedAt: expect.any(Number), sessions: 3, calls: 5 }]);
  expect(await attach.stop(attached.id)).toEqual({ sessions: 3, calls: 5 });
  const rollouts = store.rolloutsOf(attached.experiment);
  expect(rollouts.map(({ calls, phase, outcome, harness, harnessVersion }) => [calls, phase, outcome, harness, harnessVersion])).toEqual([
    [2, "ended", null, "my-agent", "1.2"],
    [1, "ended", null, "my-agent", "1.2"],
    [2, "ended", null, "my-agent", "1.2"],
  ]);
  expect(store.experiment(attached.experiment)).toMatchObject({ kind: "attach", status: "ended" });
  expect((await post(chat, attached.key, { model: "m", messages: [user("late")] })).status).toBe(401);

  const [session] = rollouts;
  if (session === undefined) throw new Error("no session");
  attach.grade(session.id, { status: "failed", cause: "tool-misuse", note: "It looked in the wrong folder." });
  expect(store.rollout(session.id)).toMatchObject({ reward: 0, outcome: { status: "failed", cause: "tool-misuse", action: "train" } });
  const [call] = store.callsOf(session.id);
  attach.correct(call?.id ?? "", "Hello to you.");
  attach.correct(call?.id ?? "", "Good day.");
  expect([...correctionsOf(store, session.id)]).toEqual([[call?.id, "Good day."]]);
  attach.correct(call?.id ?? "", "");
  expect(correctionsOf(store, session.id).size).toBe(0);
  expect(() => attach.correct("r-none-0-0", "x")).toThrow("no call");
});

test("a wrong policy is refused in one sentence", async () => {
  await expect(workbench.attach.start({ name: "x", policy: "nobody" })).rejects.toThrow("nobody");
});

test("an address that can't be opened leaves no experiment that runs", async () => {
  const { store, proxy, policies } = workbench;
  const before = store.experiments().length;
  const refusing = { ...proxy, openAttach: () => Promise.reject(new Error("no address is left")) };
  const service = createAttachService({ store, proxy: refusing, policies });
  await expect(service.start({ name: "trial", policy: "scripted" })).rejects.toThrow("no address is left");
  expect(store.experiments()).toHaveLength(before);
  expect(service.list()).toEqual([]);
});
