/** The servers whose answers are garbled: a new kind of upstream is one line of `upstreamKinds`, and its routes are lines of `wholeReplies`. */
import { join } from "node:path";
import type { createUpstream } from "../../../main/proxy/index.ts";

type UpstreamDefinition = Parameters<typeof createUpstream>[0];

const tokenizer = join(import.meta.dirname, "../../../resources/policies/tokenizer");
const messageRules = { developer: "system", mergeSystem: true, mergeUser: false } as const;

/** `tokens`: prompts go to it as ids. */
export const upstreamKinds: readonly { readonly name: string; readonly tokens: boolean; at(url: string): UpstreamDefinition }[] = [
  { name: "openai-compatible", tokens: false, at: (url) => ({ kind: "openai-compatible", id: "u", url, messageRules }) },
  { name: "anthropic-compatible", tokens: false, at: (url) => ({ kind: "anthropic-compatible", id: "u", url, messageRules }) },
  { name: "ollama", tokens: false, at: (url) => ({ kind: "ollama", id: "u", url, messageRules }) },
  { name: "vllm", tokens: false, at: (url) => ({ kind: "vllm", id: "u", url, messageRules, toolFormat: "hermes" }) },
  { name: "vllm, ids in", tokens: true, at: (url) => ({ kind: "vllm", id: "u", url, messageRules, toolFormat: "hermes", tokenizer }) },
  { name: "sglang", tokens: false, at: (url) => ({ kind: "sglang", id: "u", url, messageRules }) },
  { name: "sglang, ids in", tokens: true, at: (url) => ({ kind: "sglang", id: "u", url, messageRules, tokenizer }) },
  { name: "llama.cpp", tokens: false, at: (url) => ({ kind: "llama.cpp", id: "u", url, messageRules }) },
  { name: "llama.cpp, ids in", tokens: true, at: (url) => ({ kind: "llama.cpp", id: "u", url, messageRules, tokenizer }) },
];

interface WholeReply {
  readonly path: string;
  readonly body: unknown;
  /** The same as a stream: the data of each event, or each line. */
  readonly pieces?: readonly unknown[];
  readonly form?: "sse" | "named sse" | "lines";
}

const call = { id: "call_1", type: "function", function: { name: "bash", arguments: '{"command":"ls"}' } };
const usage = { prompt_tokens: 11, completion_tokens: 3, total_tokens: 14 };
const ids = [286, 374, 1049];
const logprobs = { content: ids.map((id) => ({ token: "x", id, logprob: -0.5, prob: 0.6, top_logprobs: [] })) };
const delta = (content: object, finish: string | null = null): object => ({
  id: "c",
  object: "chat.completion.chunk",
  model: "m",
  choices: [{ index: 0, delta: content, finish_reason: finish }],
});

/** What a healthy server says, by the end of the path that it is asked at. */
export const wholeReplies: readonly WholeReply[] = [
  {
    path: "/v1/models",
    body: { object: "list", data: [{ id: "m", object: "model", owned_by: "vllm", max_model_len: 8192 }] },
  },
  {
    path: "/v1/chat/completions",
    body: {
      id: "c",
      object: "chat.completion",
      model: "m",
      choices: [
        {
          index: 0,
          message: { role: "assistant", content: "Done: 据.", reasoning_content: "I look.", tool_calls: [call] },
          finish_reason: "tool_calls",
          stop_reason: null,
          token_ids: ids,
          logprobs,
        },
      ],
      usage,
      prompt_token_ids: [1, 2, 3],
    },
    form: "sse",
    pieces: [
      delta({ role: "assistant", content: "" }),
      delta({ reasoning_content: "I look." }),
      delta({ content: "Done: 据" }),
      delta({ tool_calls: [{ index: 0, id: "a", type: "function", function: { name: "bash", arguments: '{"command":' } }] }),
      delta({ tool_calls: [{ index: 0, function: { arguments: '"ls"}' } }] }),
      delta({ tool_calls: [{ index: 1, id: "b", function: { name: "bash", arguments: "{}" } }] }),
      delta({}, "tool_calls"),
      { id: "c", choices: [], usage },
      "[DONE]",
    ],
  },
  {
    path: "/v1/completions",
    body: {
      id: "c",
      object: "text_completion",
      model: "m",
      choices: [
        {
          index: 0,
          text: '<tool_call>\n{"name": "bash", "arguments": {}}\n</tool_call>',
          finish_reason: "stop",
          stop_reason: 151645,
          token_ids: ids,
          logprobs: { token_logprobs: [-0.1, -0.2, -0.3] },
        },
      ],
      usage,
    },
  },
  {
    path: "/generate",
    body: {
      text: "Done.",
      output_ids: ids,
      meta_info: {
        finish_reason: { type: "stop", matched: 151645 },
        ...{ prompt_tokens: 11, completion_tokens: 3, cached_tokens: 0, weight_version: "default" },
        output_token_logprobs: ids.map((id) => [-0.5, id, null]),
      },
    },
  },
  {
    path: "/completion",
    body: {
      ...{ content: "Done.", tokens: ids, stop_type: "eos", model: "m", truncated: false, tokens_predicted: 3, tokens_evaluated: 11 },
      completion_probabilities: logprobs.content,
      timings: { cache_n: 4 },
    },
  },
  { path: "/apply-template", body: { prompt: "<|im_start|>user\nhello" } },
  { path: "/tokenize", body: { tokens: [1, 2, 3] } },
  { path: "/props", body: { default_generation_settings: { n_ctx: 8192 }, total_slots: 1 } },
  {
    path: "/api/chat",
    body: {
      model: "m",
      message: {
        role: "assistant",
        content: "Done.",
        thinking: "I look.",
        tool_calls: [{ function: { name: "bash", arguments: { command: "ls" } } }],
      },
      ...{ done: true, done_reason: "stop", prompt_eval_count: 11, eval_count: 3 },
    },
    form: "lines",
    pieces: [
      { model: "m", message: { role: "assistant", content: "Do" }, done: false },
      { model: "m", message: { role: "assistant", content: "ne.", tool_calls: [{ function: { name: "bash", arguments: {} } }] }, done: false },
      { model: "m", message: { role: "assistant", content: "" }, done: true, done_reason: "stop", prompt_eval_count: 11, eval_count: 3 },
    ],
  },
  {
    path: "/v1/messages",
    body: {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "m",
      content: [
        { type: "thinking", thinking: "I look.", signature: "s" },
        { type: "text", text: "Done." },
        { type: "tool_use", id: "toolu_1", name: "bash", input: { command: "ls" } },
      ],
      stop_reason: "tool_use",
      stop_sequence: null,
      usage: { input_tokens: 11, output_tokens: 3, cache_read_input_tokens: 2, cache_creation_input_tokens: 0 },
    },
    form: "named sse",
    pieces: [
      {
        type: "message_start",
        message: {
          id: "msg_1",
          type: "message",
          role: "assistant",
          model: "m",
          content: [],
          stop_reason: null,
          usage: { input_tokens: 11, output_tokens: 1 },
        },
      },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Done." } },
      { type: "content_block_stop", index: 0 },
      { type: "content_block_start", index: 1, content_block: { type: "tool_use", id: "toolu_1", name: "bash", input: {} } },
      { type: "content_block_delta", index: 1, delta: { type: "input_json_delta", partial_json: '{"command":"ls"}' } },
      { type: "content_block_stop", index: 1 },
      { type: "message_delta", delta: { stop_reason: "tool_use", stop_sequence: null }, usage: { output_tokens: 3 } },
      { type: "message_stop" },
    ],
  },
];
