/** The scripted policy behind the proxy: real ids, one chain for a linear rollout, faults, limits. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { loadTokenizer } from "../../engine/tokenizers/index.ts";
import { createPolicyRegistry, type PolicyRegistry, type SessionOptions } from "../../main/proxy/index.ts";
import { FakeClock } from "../stand-ins/fake-clock.ts";
import { layProxyBed, type OpenBed, type ProxyBed } from "../stand-ins/proxy-bed.ts";

const policiesFolder = resolve("resources/policies");
const tokenizer = loadTokenizer(readFileSync(join(policiesFolder, "tokenizer/tokenizer.json"), "utf8"));

let bed: ProxyBed;
let clock: FakeClock;
let scripts: string;
let policies: PolicyRegistry;

beforeEach(async () => {
  clock = new FakeClock();
  bed = await layProxyBed({ clock });
  scripts = mkdtempSync(join(tmpdir(), "of-scripts-"));
  policies = createPolicyRegistry({ store: bed.store, policiesFolder, env: {} });
});
afterEach(async () => {
  await bed.close();
  rmSync(scripts, { recursive: true, force: true });
});

async function open(yaml: string, over: Partial<SessionOptions> = {}): Promise<OpenBed> {
  const file = join(scripts, "rules.yaml");
  writeFileSync(file, yaml);
  return bed.open(await policies.resolve(`scripted:${file}`), { tokenMode: "as-sampled", ...over });
}

interface ChatAnswer {
  choices: {
    message: {
      role: "assistant";
      content: string | null;
      reasoning_content?: string;
      tool_calls?: { id: string; function: { name: string; arguments: string } }[];
    };
    finish_reason: string;
  }[];
  usage: { prompt_tokens: number; completion_tokens: number };
}
const bash = {
  type: "function",
  function: { name: "bash", description: "run", parameters: { type: "object", properties: { command: { type: "string" } } } },
};
const ask = async (open: OpenBed, body: object): Promise<ChatAnswer> => (await (await open.chat(body)).json()) as ChatAnswer;
const settled = (): Promise<void> => new Promise((done) => setTimeout(done, 40));

const twoSteps = `
version: 1
name: two-steps
rules:
  - when: {task: {regex: 'write (?<word>\\w+)'}}
    steps:
      - reasoning: The shell will do.
        text: I write it.
        calls: [{shell: "echo \${word} > out.txt"}, {shell: "cat out.txt"}]
      - text: "Done: \${word}."
`;

describe("a linear rollout", () => {
  test.each(["as-sampled", "as-template"] as const)("is one chain of real ids in token mode %s", async (tokenMode) => {
    const opened = await open(twoSteps, { tokenMode });
    const messages: unknown[] = [
      { role: "system", content: "You work." },
      { role: "user", content: "write cat" },
    ];
    const first = await ask(opened, { model: "m", messages, tools: [bash] });
    const message = first.choices[0]?.message;
    expect(message).toMatchObject({ content: "I write it.", reasoning_content: "The shell will do." });
    expect(message?.tool_calls?.map((call) => call.function.arguments)).toEqual(['{"command":"echo cat > out.txt"}', '{"command":"cat out.txt"}']);
    messages.push(message, ...(message?.tool_calls ?? []).map((call) => ({ role: "tool", tool_call_id: call.id, content: "cat" })));
    expect(await ask(opened, { model: "m", messages, tools: [bash] })).toMatchObject({
      choices: [{ message: { content: "Done: cat." }, finish_reason: "stop" }],
    });

    const calls = bed.store.callsOf(opened.rolloutId);
    expect(calls.map((call) => [call.capture, call.tokenMode, call.policyVersion, call.breakCause])).toEqual([
      ["ids+logprobs", tokenMode, "two-steps", null],
      ["ids+logprobs", tokenMode, "two-steps", null],
    ]);
    const [one, two] = bed.store.nodesOf(opened.rolloutId);
    if (one === undefined || two === undefined) throw new Error("no nodes");
    expect(two.parentCallId, "the second prompt begins with the first and what was sampled").toBe(one.callId);
    expect(tokenizer.decode(one.sampledIds)).toContain('<tool_call>\n{"name": "bash", "arguments": {"command": "echo cat > out.txt"}}\n</tool_call>');
    expect(tokenizer.decode(two.addedPromptIds)).toContain("<tool_response>\ncat\n</tool_response>");
    expect(one.logprobs).toHaveLength(one.sampledIds.length);
    expect(calls[0]?.promptTokens).toBe(one.addedPromptIds.length);
  });

  test("in the Responses dialect with a namespaced tool is one chain too", async () => {
    const opened = await open(`
version: 1
name: agents
rules:
  - steps:
      - reasoning: I delegate.
        calls: [{tool: spawn_agent, arguments: {message: go}}]
      - text: all done
`);
    const tools = [
      {
        type: "namespace",
        name: "multi_agent_v1",
        description: "agents",
        tools: [{ type: "function", name: "spawn_agent", parameters: { type: "object", properties: {} } }],
      },
    ];
    const input: object[] = [{ type: "message", role: "user", content: [{ type: "input_text", text: "split it" }] }];
    const request = { model: "m", tools, include: ["reasoning.encrypted_content"] };
    const first = (await (await opened.responses({ ...request, input })).json()) as {
      output: { type: string; name?: string; namespace?: string; call_id?: string }[];
    };
    const call = first.output.find((item) => item.type === "function_call");
    expect(call).toMatchObject({ name: "spawn_agent", namespace: "multi_agent_v1" });
    input.push(...first.output, { type: "function_call_output", call_id: call?.call_id, output: "started" });
    const second = await (await opened.responses({ ...request, input, stream: true })).text();
    expect(second).toContain("all done");
    const nodes = bed.store.nodesOf(opened.rolloutId);
    expect(nodes[1]?.parentCallId).toBe(nodes[0]?.callId);
  });
});

test("faults strike as often as they say: unseen by the harness, or seen when told so", async () => {
  const opened = await open(`
version: 1
name: faulty
rules:
  - when: {user: hidden}
    fault: {kind: status, status: 503, times: 2}
    answer: {text: after two}
  - when: {user: seen}
    fault: {kind: status, status: 500, through: true}
    answer: {text: after one}
  - when: {user: long}
    fault: {kind: context-overflow, through: true}
    answer: {text: never mind}
`);
  const say = (content: string) => ({ model: "m", messages: [{ role: "user", content }] });
  const hidden = opened.chat(say("hidden"));
  for (let round = 0; round < 4; round += 1) {
    await settled();
    clock.advance(20_000);
  }
  expect(await (await hidden).text()).toContain("after two");
  expect((await opened.chat(say("seen"))).status).toBe(500);
  expect((await opened.chat(say("seen"))).status).toBe(200);
  const overflow = await opened.chat(say("long"));
  expect([overflow.status, await overflow.text()]).toEqual([400, expect.stringContaining("context_length_exceeded")]);
  expect(bed.store.callsOf(opened.rolloutId).map((call) => [call.status, call.upstreamRetries])).toEqual([
    ["ok", 2],
    ["error", 0],
    ["ok", 0],
    ["error", 0],
  ]);
  expect(opened.session.stats()).toMatchObject({ contextOverflow: true, failing: true });
});

test("an answer beyond the limit is cut there: length wins, and a cut call is not offered", async () => {
  const opened = await open(`
version: 1
name: long
rules:
  - answer: {text: I begin., calls: [{shell: "echo a very long command that will not fit into the limit"}]}
`);
  const answer = await ask(opened, { model: "m", messages: [{ role: "user", content: "go" }], tools: [bash], max_tokens: 30 });
  expect(answer.choices[0]?.finish_reason).toBe("length");
  expect(answer.choices[0]?.message.tool_calls).toBeUndefined();
  expect(answer.usage.completion_tokens).toBe(30);
  const [node] = bed.store.nodesOf(opened.rolloutId);
  expect(node?.sampledIds).toHaveLength(30);
});

test("arguments that are wrong on purpose reach the harness as they are and are marked", async () => {
  const opened = await open(
    `
version: 1
name: bad
rules:
  - answer: {calls: [{tool: bash, raw: '{"command": "ls'}]}
`,
    { tokenMode: "text-in" },
  );
  const answer = await ask(opened, { model: "m", messages: [{ role: "user", content: "go" }], tools: [bash] });
  expect(answer.choices[0]?.message.tool_calls?.[0]?.function.arguments).toBe('{"command": "ls');
  expect(bed.store.callsOf(opened.rolloutId)).toMatchObject([{ unparsedToolCall: true }]);
  expect(opened.session.stats().unparsedToolCall).toBe(true);
});

test("a secret in a prompt blanks the ids of its call and of those that go on from it", async () => {
  const opened = await open(twoSteps, { secrets: [{ name: "TOKEN", value: "hunter2-hunter2" }] });
  const messages = [{ role: "user", content: "write cat with hunter2-hunter2" }];
  await ask(opened, { model: "m", messages, tools: [bash] });
  const [node] = bed.store.nodesOf(opened.rolloutId);
  expect(node?.addedPromptIds.every((id) => id === -1)).toBe(true);
  expect(node?.sampledIds.every((id) => id === -1)).toBe(true);
  expect(bed.store.callsOf(opened.rolloutId)).toMatchObject([{ quarantined: "secret-seen" }]);
});

describe("the registry", () => {
  test("knows what ships, what was added and what is named on the fly; and says what is wrong", async () => {
    expect(policies.list()).toMatchObject([{ definition: { id: "scripted" }, builtIn: true, takesTokenIds: true, capture: "ids+logprobs" }]);
    const added = await policies.add({ id: "mine", url: "http://127.0.0.1:9/v1", kind: "openai-compatible", model: "m", keyVariable: "MY_KEY" });
    expect(added).toMatchObject({ capture: null, builtIn: false, address: "http://127.0.0.1:9/v1" });
    expect(bed.store.setting("policies")).not.toContain("secret");
    await expect(policies.resolve("mine")).rejects.toThrow("MY_KEY, which is not set");
    await expect(policies.resolve("nobody")).rejects.toThrow('There is no policy "nobody"');
    await expect(policies.resolve("scripted:/no/such.yaml")).rejects.toThrow("does not exist");
    await expect(policies.add({ id: "scripted", url: "http://x" })).rejects.toThrow("ships");
    await expect(policies.add({ id: "bad", url: "not a url", kind: "vllm" })).rejects.toThrow("not complete");
    await expect(policies.resolve("http://127.0.0.1:9")).rejects.toThrow("nothing listens there");
    policies.remove("mine");
    expect(policies.list()).toHaveLength(1);
    expect(() => policies.remove("mine")).toThrow("no saved policy");
  });

  test("probes", async () => {
    writeFileSync(join(scripts, "p.yaml"), "version: 1\nname: p\nrules: []");
    expect(await policies.probe(`scripted:${join(scripts, "p.yaml")}`)).toMatchObject({ capture: "ids+logprobs", lost: [] });
    await policies.add({ id: "dead", url: "http://127.0.0.1:9", kind: "openai-compatible" });
    await expect(policies.probe("dead")).rejects.toThrow("nothing listens there");
  });
});
