/**
 * What stand-ins for inference servers answer from: a real tokenizer and chat template, random but repeatable turns. Keeps what it was
 * asked and sampled, id for id.
 */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, parseJson } from "../../engine/json/index.ts";
import { chatContext, compileTemplate } from "../../engine/templates/index.ts";
import { loadTokenizer, type Tokenizer } from "../../engine/tokenizers/index.ts";
import { parseAnswer } from "../../engine/tool-calls/index.ts";
import { createRandom, pick, type Random } from "./random.ts";

const fixtures = resolve(import.meta.dirname, "../fixtures");

export interface Sample {
  readonly promptIds: readonly number[];
  readonly sampledIds: readonly number[];
}

export interface TokenPolicyOptions {
  /** Name in tests/fixtures/chat-templates. */
  readonly template: string;
  readonly seed: number;
  readonly contextWindow?: number;
  /** Left out = chatml-bpe of the fixtures. */
  readonly tokenizer?: Tokenizer;
}

interface SampledTurn {
  readonly ids: readonly number[];
  readonly finish: "stop" | "length";
}

export interface TokenPolicy {
  /** Every answer, in order. */
  readonly samples: readonly Sample[];
  readonly tokenizer: Tokenizer;
  /** Source of the chat template, for a client that builds prompts itself. */
  readonly template: string;
  readonly contextWindow: number;
  /** Ends a turn. */
  readonly endId: number;
  /** The prompt that a Chat Completions body is rendered to, as text. Throws TemplateError. */
  render(chat: JsonObject): string;
  /** An answer that something else sampled. */
  keep(promptIds: Iterable<number>, sampledIds: readonly number[]): void;
  sample(promptIds: readonly number[], tools: readonly string[], maxTokens: number): SampledTurn;
  /** Message of a Chat Completions answer, with its calls parsed. */
  message(
    ids: readonly number[],
    tools: readonly string[],
  ): { readonly content: string | null; readonly reasoning_content: string | null; readonly tool_calls: readonly object[] };
}

export function createTokenPolicy(options: TokenPolicyOptions): TokenPolicy {
  const tokenizer =
    options.tokenizer ?? loadTokenizer(fixture("tokenizers/chatml-bpe/tokenizer.json"), fixture("tokenizers/chatml-bpe/tokenizer_config.json"));
  const source = fixture(`chat-templates/${options.template}.jinja`);
  const template = compileTemplate(source);
  const random = createRandom(options.seed);
  const samples: Sample[] = [];
  const endId = tokenizer.special.eos ?? 0;
  const keep: TokenPolicy["keep"] = (promptIds, sampledIds) => {
    samples.push({ promptIds: [...promptIds], sampledIds });
  };
  return {
    samples,
    tokenizer,
    template: source,
    contextWindow: options.contextWindow ?? 100_000,
    endId,
    render(chat) {
      const messages = isJsonArray(chat.get("messages")) ? (chat.get("messages") as JsonValue[]) : [];
      const tools = isJsonArray(chat.get("tools")) ? (chat.get("tools") as JsonValue[]) : null;
      return template.render(chatContext({ messages: messages.map(withObjectArguments), tools, addGenerationPrompt: true }), { now: new Date(0) })
        .text;
    },
    keep,
    sample(promptIds, tools, maxTokens) {
      const whole = [...sampleTurn(random, tokenizer, tools), endId];
      const ids = whole.slice(0, maxTokens);
      keep(promptIds, ids);
      return { ids, finish: ids.length < whole.length ? "length" : "stop" };
    },
    message(ids, tools) {
      const text = tokenizer.decode([...ids], { skipSpecialTokens: true });
      const read = parseAnswer(text, { format: "hermes", tools: tools.map((name) => ({ name })) });
      const calls = read.toolCalls.map((call, index) => ({ id: `chatcmpl-tool-${samples.length}-${index}`, type: "function", function: call }));
      return { content: read.content, reasoning_content: read.reasoning, tool_calls: calls };
    },
  };
}

function fixture(path: string): string {
  return readFileSync(join(fixtures, path), "utf8");
}

/** Names of the tools of a Chat Completions body. */
export function toolNames(chat: JsonObject): readonly string[] {
  const tools = chat.get("tools");
  return (isJsonArray(tools) ? tools : []).flatMap((tool) => {
    const inner = isJsonObject(tool) ? tool.get("function") : undefined;
    const name = isJsonObject(inner) ? inner.get("name") : undefined;
    return typeof name === "string" ? [name] : [];
  });
}

export function idsOf(value: JsonValue | undefined): readonly number[] {
  return isJsonArray(value) ? value.map((id) => Number(id)) : [];
}

export function numberOf(value: JsonValue | undefined): number | null {
  return typeof value === "number" || typeof value === "bigint" ? Number(value) : null;
}

/** As vLLM does before it renders: arguments of calls become objects. */
function withObjectArguments(message: JsonValue): JsonObject {
  if (!isJsonObject(message)) return new Map();
  const calls = message.get("tool_calls");
  if (!isJsonArray(calls)) return message;
  const read = calls.map((call) => {
    const inner = isJsonObject(call) ? call.get("function") : undefined;
    const text = isJsonObject(inner) ? inner.get("arguments") : undefined;
    if (!isJsonObject(call) || !isJsonObject(inner) || typeof text !== "string") return call;
    return new Map(call).set("function", new Map(inner).set("arguments", parseJson(text)));
  });
  return new Map(message).set("tool_calls", read);
}

const words = ["the report", " is", " ready", "\n", "é", "据", "😀", " 12.5", "```sh\nls\n```", "  ", "don't", "{}", "C:\\x"];
const commands = ["ls -la", 'echo "größe"', "cat <<'E'\na\nE", "printf '%s\\n' a > b", "true && false"];

/** A turn as a policy writes them, in ids that no tokenizer would always choose: reasoning, text, calls spelled in many ways. */
function sampleTurn(random: Random, tokenizer: Tokenizer, tools: readonly string[]): number[] {
  const text = (): string => Array.from({ length: 1 + Math.floor(random() * 6) }, () => pick(random, words)).join("");
  const parts: string[] = [];
  if (random() < 0.5) parts.push(`<think>\n${text()}\n</think>\n\n`);
  const isCalling = tools.length > 0 && random() < 0.75;
  if (!isCalling || random() < 0.5) parts.push(text());
  for (let count = isCalling ? 1 + Math.floor(random() * 2) : 0; count > 0; count -= 1) parts.push(writeCall(random, pick(random, tools)));
  return parts.flatMap((part) => oddly(random, tokenizer, part));
}

function writeCall(random: Random, name: string): string {
  const space = pick(random, ["", " ", "  "]);
  const command = JSON.stringify(pick(random, commands));
  const limit = pick(random, ["", `, "limit":${space}1.0`, `,"n": 1e3`]);
  return `\n<tool_call>\n{"name":${space}"${name}", "arguments": {${space}"command":${space}${command}${limit}}}\n</tool_call>`;
}

/** Cuts a text at random places and encodes the pieces apart; markers stay whole. */
function oddly(random: Random, tokenizer: Tokenizer, text: string): number[] {
  return text.split(/(<\/?(?:think|tool_call)>)/).flatMap((piece) => {
    if (/^<\/?(?:think|tool_call)>$/.test(piece) || random() < 0.6) return [...tokenizer.encode(piece)];
    const characters = [...piece];
    const cut = Math.floor(random() * characters.length);
    return [characters.slice(0, cut), characters.slice(cut)].flatMap((part) => [...tokenizer.encode(part.join(""), { matchAddedTokens: false })]);
  });
}

/** Made up, and told again from the id. */
export function logprobOf(id: number): number {
  return -((id % 100) + 1) / 64;
}
