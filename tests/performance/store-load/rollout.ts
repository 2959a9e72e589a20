/** A made-up rollout of an agent that reads real text: installed packages' sources, so that it compresses as such rollouts do. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export interface RolloutCall {
  readonly request: string;
  /** The stream as the client got it, one event a word. */
  readonly response: string;
  /** What a token-in upstream was sent and answered: ids instead of messages. */
  readonly upstreamRequest: string;
  readonly upstreamResponse: string;
}

const packages = ["commander", "zod", "ws", "yaml", "dockerode", "fast-check"];
/** Usual for English and code in vocabularies of 100,000 and more. */
const charactersPerToken = 4;
const vocabulary = 150_000;

/** Calls whose prompt grows evenly to about `tokens` tokens; another seed, another rollout. */
export function madeUpRollout(calls: number, tokens: number, seed: number): readonly RolloutCall[] {
  const random = randomNumbers(seed);
  const corpus = readCorpus();
  const excerpt = (length: number) => {
    const text = corpus[Math.floor(random() * corpus.length)] ?? "";
    const start = Math.floor(random() * Math.max(1, text.length - length));
    return text.slice(start, start + length);
  };
  const perCall = (tokens * charactersPerToken - 12_000) / calls;
  const messages: unknown[] = [
    { role: "system", content: excerpt(10_000) },
    { role: "user", content: `Find out why the test fails and mend it. ${excerpt(1500)}` },
  ];
  return Array.from({ length: calls }, (_, index) => {
    const request = JSON.stringify({ model: "policy", messages, tools, temperature: 1, stream: true, stream_options: { include_usage: true } });
    const said = `Next I look at ${excerpt(perCall * 0.15)}`;
    const call = {
      id: `call_${Math.floor(random() * 1e12).toString(36)}`,
      type: "function",
      function: { name: "bash", arguments: JSON.stringify({ command: `sed -n ${index},200p src/${index}.ts`, limit: 200 }) },
    };
    const sampled = pseudoIds(said + call.function.arguments);
    const upstreamRequest = JSON.stringify({
      model: "policy",
      prompt: pseudoIds(messages.map((message) => JSON.stringify(message)).join("\n")),
      max_tokens: 4096,
      logprobs: 0,
    });
    const upstreamResponse = JSON.stringify({
      choices: [{ text: said, token_ids: sampled, logprobs: { token_logprobs: sampled.map(() => -random() * 3) } }],
    });
    messages.push(
      { role: "assistant", content: said, tool_calls: [call] },
      { role: "tool", tool_call_id: call.id, content: excerpt(perCall * (0.4 + random() * 0.6)) },
    );
    return { request, response: stream(said, call, index), upstreamRequest, upstreamResponse };
  });
}

const tools = ["bash", "read", "edit", "search"].map((name) => ({
  type: "function",
  function: {
    name,
    description: `Does ${name} in the workspace and gives back the output, cut at 4,000 characters.`,
    parameters: {
      type: "object",
      properties: { command: { type: "string" }, path: { type: "string" }, limit: { type: "integer" } },
      required: ["command"],
    },
  },
}));

function stream(said: string, call: unknown, index: number): string {
  const event = (delta: unknown, finish: string | null) =>
    `data: ${JSON.stringify({ id: `chatcmpl-${index * 7919}`, object: "chat.completion.chunk", created: 1_700_000_000 + index * 13, model: "policy", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  const words = said.match(/\s*\S+/g) ?? [];
  return [
    ...words.map((content) => event({ content }, null)),
    event({ tool_calls: [{ index: 0, ...Object(call) }] }, "tool_calls"),
    "data: [DONE]\n\n",
  ].join("");
}

/** Ids as a tokenizer would give in number and in repetition: equal text gives equal ids. */
function pseudoIds(text: string): number[] {
  const ids: number[] = [];
  for (const piece of text.match(/\s?[A-Za-z]{1,6}|[\s\S]/g) ?? []) {
    let hash = 7;
    for (let at = 0; at < piece.length; at++) hash = (Math.imul(hash, 31) + piece.charCodeAt(at)) >>> 0;
    ids.push(hash % vocabulary);
  }
  return ids;
}

function readCorpus(): readonly string[] {
  const root = fileURLToPath(new URL("../../../node_modules", import.meta.url));
  return packages.flatMap((name) =>
    readdirSync(join(root, name), { recursive: true, encoding: "utf8" })
      .filter((file) => /\.(js|ts|md)$/.test(file))
      .sort()
      .map((file) => readFileSync(join(root, name, file), "utf8"))
      .filter((text) => text.length > 3000)
      .slice(0, 40),
  );
}

function randomNumbers(seed: number): () => number {
  let state = (seed * 2_654_435_761) >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}
