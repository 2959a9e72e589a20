/** What is inside the calls of the sample: messages, bodies, tokens with log-probabilities, texts of verifier and harness. */
import type { CallDetail, CallView, MessageView } from "../../../main/api/call-views.ts";
import type { ChainTokens, TokenSpan } from "../../../main/api/token-views.ts";
import { randomFrom } from "./sample-experiments.ts";

const text = (value: string): MessageView["content"] => [{ type: "text", text: value }];
const plain = (role: MessageView["role"], value: string): MessageView => ({
  role,
  content: text(value),
  reasoning: null,
  toolCalls: [],
  toolCallId: null,
  sampled: role === "assistant",
});

export const pictureHash = "a".repeat(64);
const toolResult = `   1587 out.sql
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE orders(id INTEGER PRIMARY KEY,
  placed TEXT NOT NULL, total_cents INTEGER);
INSERT INTO orders VALUES(1,'2025-11-02',1899);
INSERT INTO orders VALUES(2,'2025-11-02',4250);
INSERT INTO orders VALUES(3,'2025-11-03',725);
output truncated after 4,096 bytes; 61,720 left out`;

function assistant(call: CallView): MessageView {
  const match = /^bash (\{.*\})$/.exec(call.summary);
  if (match === null) return plain("assistant", call.summary);
  return {
    role: "assistant",
    content: text("The output was cut at 4,096 bytes, so I cannot see the whole dump. I should count the rows before loading it."),
    reasoning: "The dump is longer than what the tool returned. Counting the rows first.",
    toolCalls: [{ id: `call_${call.index}`, name: "bash", arguments: match[1] as string }],
    toolCallId: null,
    sampled: true,
  };
}

export function sampleDetail(calls: readonly CallView[], call: CallView): CallDetail {
  const history = calls
    .slice(0, call.index)
    .flatMap((earlier): MessageView[] => [assistant(earlier), { ...plain("tool", toolResult), toolCallId: `call_${earlier.index}` }]);
  const picture: MessageView = {
    ...plain("user", "What the screen shows after the last command:"),
    content: [
      { type: "text", text: "What the screen shows after the last command:" },
      { type: "image", blob: pictureHash, url: null, mediaType: "image/svg+xml" },
    ],
  };
  return {
    ...call,
    correction: null,
    messages: [
      plain("system", "You are a careful engineer. Use the bash tool. Answer with one command at a time and say when you are done.\n".repeat(6)),
      plain("user", "The database data/app.db was not closed. Recover the orders table into new.db; every order must survive, by id and total."),
      ...history,
      ...(call.index === 2 ? [picture] : []),
    ],
    tools: [
      {
        name: "bash",
        description: "Runs one command in the workspace.",
        parameters: '{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}',
      },
    ],
    sampling: { temperature: 1, maxTokens: 2048 },
    answer: call.status === "error" ? null : assistant(call),
    requestHeaders: { "content-type": "application/json", authorization: "[redacted:authorization]", "user-agent": "react/1.0.0" },
    bodies: {
      request: sampleBody(call, "request").length,
      response: sampleBody(call, "response").length,
      upstreamRequest: 2400,
      upstreamResponse: 1900,
    },
  };
}

export function sampleBody(call: CallView, which: string): string {
  if (which === "response" && call.stream) {
    return `${["The", " output", " was", " cut", "."]
      .map(
        (part, index) =>
          `data: ${JSON.stringify({ id: "chatcmpl-1", object: "chat.completion.chunk", choices: [{ index: 0, delta: { content: part }, finish_reason: index === 4 ? call.finishReason : null }] })}\n\n`,
      )
      .join("")}data: [DONE]\n\n`;
  }
  const messages = Array.from({ length: 2 + call.index * 2 }, (_, index) => ({
    role: index % 2 === 0 ? "user" : "assistant",
    content: toolResult.repeat(call.index === 11 ? 400 : 1),
  }));
  return JSON.stringify({
    model: call.model,
    messages,
    tools: [{ type: "function", function: { name: "bash" } }],
    temperature: 1,
    max_tokens: 2048,
    stream: true,
    seed: 12345678901234567890n.toString(),
  });
}

const promptWords = [
  "<|im_start|>",
  "system",
  "\n",
  "You",
  " are",
  " a",
  " careful",
  " engineer",
  ".",
  " Use",
  " the",
  " bash",
  " tool",
  ".",
  "<|im_end|>",
  "\n",
];
const toolWords = [
  "<|im_start|>",
  "tool",
  "\n",
  "<tool_response>",
  "\n",
  "  ",
  " 1",
  "5",
  "8",
  "7",
  " out",
  ".sql",
  "\n",
  "PR",
  "AGMA",
  " foreign",
  "_keys",
  "=",
  "OFF",
  ";\n",
  "BEGIN",
  " TRANSACTION",
  ";\n",
  "INSERT",
  " INTO",
  " orders",
  " VALUES",
  "(",
  "1",
  ",'",
  "2",
  "0",
  "2",
  "5",
  "');\n",
  "</tool_response>",
  "<|im_end|>",
  "\n",
  "<|im_start|>",
  "assistant",
  "\n",
];
const sampledWords = [
  "<think>",
  "\n",
  "The",
  " output",
  " was",
  " cut",
  " at",
  " ",
  "4",
  ",",
  "0",
  "9",
  "6",
  " bytes",
  ",",
  " so",
  " I",
  " cannot",
  " see",
  " the",
  " whole",
  " dump",
  ".",
  " I",
  " should",
  " count",
  " the",
  " rows",
  " before",
  " loading",
  " it",
  ".",
  "\n",
  "</think>",
  "\n\n",
  "The",
  " dump",
  " is",
  " longer",
  " than",
  " what",
  " the",
  " tool",
  " returned",
  ".",
  "\n",
  "<tool_call>",
  "\n",
  '{"',
  "name",
  '":',
  ' "',
  "bash",
  '",',
  ' "',
  "arg",
  "uments",
  '":',
  ' {"',
  "command",
  '":',
  ' "',
  "grep",
  " -",
  "c",
  " INSERT",
  " out",
  ".sql",
  '"}}',
  "\n",
  "</tool_call>",
  "<|im_end|>",
];

function span(callIndex: number, kind: TokenSpan["kind"], words: readonly string[], random: () => number): TokenSpan {
  return {
    callIndex,
    kind,
    mask: kind === "sampled" ? 1 : 0,
    ids: words.map((word) => [...word].reduce((sum, character) => (sum * 31 + (character.codePointAt(0) ?? 0)) % 151_000, 7)),
    texts: [...words],
    logprobs: kind === "prompt" ? null : words.map(() => (random() < 0.55 ? -random() * 0.09 : -(random() ** 3) * 7)),
  };
}

const repeated = (words: readonly string[], times: number): readonly string[] => Array.from({ length: times }, () => words).flat();

export function sampleTokens(chain: number, calls: number): ChainTokens {
  const random = randomFrom(chain + 5);
  const spans: TokenSpan[] = [];
  for (let call = 0; call < calls; call += 1) {
    spans.push(span(call, "prompt", call === 0 ? repeated(promptWords, 12) : repeated(toolWords, call === 3 ? 30 : 1), random));
    spans.push(span(call, "sampled", sampledWords, random));
  }
  const total = spans.reduce((sum, each) => sum + each.ids.length, 0);
  const trained = spans.reduce((sum, each) => sum + (each.mask === 1 ? each.ids.length : 0), 0);
  return { chain, total, trained, breakCause: chain === 0 ? null : "subagent", spans };
}

export const verifierText =
  "test_rows_match   failed\n  expected 1,204 rows\n  found      311 rows\ntest_no_wal_left  passed\n\nreward 0.00 (1 of 2 checks)\n";
export const harnessLog = (lines: number): string =>
  Array.from(
    { length: lines },
    (_, line) => `2026-11-30T09:30:${String(line % 60).padStart(2, "0")}Z react step ${line}: bash exited with 0 after ${(line % 7) * 120} ms`,
  ).join("\n");
export const picture =
  '<svg xmlns="http://www.w3.org/2000/svg" width="480" height="200"><rect width="480" height="200" fill="#20242c"/><text x="20" y="60" fill="#9fd" font-family="monospace" font-size="16">$ wc -l out.sql</text><text x="20" y="90" fill="#fff" font-family="monospace" font-size="16">1587 out.sql</text></svg>';
