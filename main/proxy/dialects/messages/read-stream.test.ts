import { expect, test } from "vitest";
import { joinStream, saidInEvent } from "./read-stream.ts";

const stream = (...events: readonly object[]): string => events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
const begin = (index: number, block: object) => ({ type: "content_block_start", index, content_block: block });
const more = (index: number, delta: object) => ({ type: "content_block_delta", index, delta });
const end = [
  { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 7, input_tokens: null } },
  { type: "message_stop" },
];

test("a stream becomes the message it stands for: thinking with its signature, text from its block's beginning on, arguments as written", () => {
  const text = stream(
    { type: "message_start", message: { model: "claude-x", usage: { input_tokens: 9, output_tokens: 1 } } },
    begin(0, { type: "thinking", thinking: "", signature: "" }),
    more(0, { type: "thinking_delta", thinking: "hm" }),
    more(0, { type: "signature_delta", signature: "Es" }),
    begin(1, { type: "redacted_thinking", data: "x" }),
    begin(2, { type: "text", text: "Lo" }),
    more(2, { type: "text_delta", text: "ok." }),
    begin(3, { type: "tool_use", id: "t", name: "bash", input: {} }),
    more(3, { type: "input_json_delta", partial_json: '{"n":1.' }),
    more(3, { type: "input_json_delta", partial_json: "0}" }),
    begin(4, { type: "tool_use", id: "u", name: "bash", input: { n: 2 } }),
    ...end,
  );
  expect(joinStream(text)).toEqual({
    body: `{"type":"message","model":"claude-x","content":[{"type":"thinking","thinking":"hm","signature":"Es"},{"type":"redacted_thinking","data":"x"},{"type":"text","text":"Look."},{"type":"tool_use","id":"t","name":"bash","input":{"n":1.0}},{"type":"tool_use","id":"u","name":"bash","input":{"n":2}}],"stop_reason":"tool_use","usage":{"input_tokens":9,"output_tokens":7}}`,
    error: undefined,
  });
});

test("what is said is said once: in the beginning of a block and in its deltas", () => {
  const said = [
    begin(0, { type: "text", text: "Lo" }),
    more(0, { text: "ok." }),
    more(0, { thinking: "hm" }),
    more(0, { partial_json: "{}" }),
    ...end,
  ];
  expect(said.flatMap((event) => saidInEvent(JSON.stringify(event)))).toEqual([
    { kind: "text", text: "Lo" },
    { kind: "text", text: "ok." },
    { kind: "reasoning", text: "hm" },
  ]);
  expect(["", "[DONE]", '{"type":7}', "{"].flatMap(saidInEvent)).toEqual([]);
});

test("a stream that does not end is none, and a server's error in it is told", () => {
  expect(joinStream(stream(begin(0, { type: "text", text: "x" })))).toEqual({ body: null, error: undefined });
  const error = { type: "overloaded_error", message: "Overloaded" };
  expect(joinStream(stream({ type: "error", error }))).toEqual({ body: null, error });
});
