/** Teachers that speak Chat Completions, and what any teacher costs. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { PolicyInput } from "../../main/proxy/index.ts";
import type { OpenBed } from "../stand-ins/proxy-bed.ts";
import type { ScriptedReply } from "../stand-ins/scripted-http.ts";
import { layTeacherBed, type TeacherBed } from "../stand-ins/teacher-bed.ts";

let bed: TeacherBed;

beforeEach(async () => {
  bed = await layTeacherBed();
});
afterEach(async () => {
  await bed.close();
});

test("an OpenAI-compatible server that wants the newer name of the limit is given it, from then on", async () => {
  const message = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
  const fine = { model: "t", choices: [{ index: 0, message: { role: "assistant", content: "Fine." }, finish_reason: "stop" }] };
  const { server, upstream } = await bed.teacher({ kind: "openai-compatible", model: "t" }, (_path, index) =>
    index === 0 ? { status: 400, body: { error: { message, code: "unsupported_parameter" } } } : { body: fine },
  );
  const open = await bed.open(upstream);
  for (const content of ["one", "two"])
    expect((await open.chat({ model: "m", max_tokens: 9, messages: [{ role: "user", content }] })).status).toBe(200);
  const limits = server.requests.map(({ body }) => Object.keys(body as object).filter((name) => name.startsWith("max_")));
  expect(limits).toEqual([["max_tokens"], ["max_completion_tokens"], ["max_completion_tokens"]]);
});

describe("what a policy costs", () => {
  const prices = { input: 2, output: 10, cachedInput: 0.5 };
  const answer = (usage: object | undefined): ScriptedReply => ({
    body: { model: "t", choices: [{ index: 0, message: { role: "assistant", content: "Fine." }, finish_reason: "stop" }], usage },
  });
  const usage = { prompt_tokens: 1_000_000, completion_tokens: 100_000, prompt_tokens_details: { cached_tokens: 400_000 } };
  const paid: Partial<PolicyInput> = { kind: "openai-compatible", model: "t", prices, spendingLimit: 5 };
  const ask = (open: OpenBed): Promise<Response> => open.chat({ model: "m", messages: [{ role: "user", content: "hi" }] });

  test("is counted from every answer; once the limit is reached, nothing more is sent, by anyone who uses it", async () => {
    const { server, upstream } = await bed.teacher(paid, () => answer(usage));
    const [first, second] = [await bed.open(upstream), await bed.open(await bed.policies.resolve("teacher"))];
    expect([(await ask(first)).status, (await ask(second)).status]).toEqual([200, 200]);
    expect(bed.policies.list().find(({ definition }) => definition.id === "teacher")?.spending).toEqual({
      ...{ calls: 2, promptTokens: 2_000_000, cachedTokens: 800_000, completionTokens: 200_000, limit: 5 },
      cost: expect.closeTo(4.8, 6),
    });
    expect((await ask(first)).status).toBe(200);
    const refused = await ask(second);
    expect([refused.status, await refused.json()]).toEqual([
      402,
      { error: expect.objectContaining({ code: "spending_limit_reached", message: expect.stringContaining("7.2 of 5 are spent") }) },
    ]);
    expect(server.requests).toHaveLength(3);
    expect(second.session.stats()).toMatchObject({ failing: true, lastFailure: { kind: "spending-limit" } });
  });

  test("is known to the next service, and stays when the policy is saved anew; a policy that is removed begins at nothing", async () => {
    const { server, upstream } = await bed.teacher(paid, () => answer(usage));
    await ask(await bed.open(upstream));
    const later = bed.registry();
    expect(later.list().find(({ definition }) => definition.id === "teacher")?.spending).toMatchObject({ calls: 1 });
    await later.add({ id: "teacher", url: server.url, ...paid, spendingLimit: 100, replace: true });
    expect(later.list().find(({ definition }) => definition.id === "teacher")?.spending).toMatchObject({ calls: 1, limit: 100 });
    later.remove("teacher");
    const again = await later.add({ id: "teacher", url: server.url, ...paid });
    expect(again.spending).toMatchObject({ calls: 0, cost: 0 });
  });

  test("is estimated where a server says no usage, and that is noted", async () => {
    const { upstream } = await bed.teacher(paid, () => answer(undefined));
    const open = await bed.open(upstream);
    await ask(open);
    expect(bed.policies.list().find(({ definition }) => definition.id === "teacher")?.spending?.cost).toBeGreaterThan(0);
    expect(bed.notesOf(open.rolloutId)).toContain("its cost is an estimate");
  });

  test("a limit wants prices; a key is never written", async () => {
    await expect(bed.policies.add({ id: "x", url: "http://127.0.0.1:9", kind: "openai-compatible", spendingLimit: 5 })).rejects.toThrow(
      "wants prices",
    );
    const { upstream } = await bed.teacher({ ...paid, keyVariable: "TEACHER_KEY" }, () => answer(usage));
    await ask(await bed.open(upstream));
    expect(`${bed.store.setting("policies")}${bed.store.setting("policy-spending")}`).not.toContain("sk-secret");
  });
});
