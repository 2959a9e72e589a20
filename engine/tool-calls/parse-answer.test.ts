import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  createAnswerParser,
  type ParsedAnswer,
  type ParseOptions,
  parseAnswer,
  type ToolCallFormat,
  type ToolSchema,
  toolCallFormats,
} from "./index.ts";

const tools: readonly ToolSchema[] = [
  {
    name: "run",
    parameters: JSON.stringify({
      properties: { cmd: { type: "string" }, n: { type: "integer" }, o: { type: "object" }, l: { anyOf: [{ type: "array" }, { type: "null" }] } },
    }),
  },
];

/** Whole calls, torn ones, marks and prose of every format, so that each meets the others' too. */
const fragments = [
  ...'<tool_call>|</tool_call>|{"name": "run", "arguments": {"cmd": "a </tool_call> \\" b"}}|{"name": "run"|, "arguments": {"n": 1e'.split("|"),
  ...'{"name": "run", "parameters": {"n": 1}}|<|python_tag|>|; |{1, 2}|{"answer": 4}|{"name": "run", "parameters": {x: "}"}}|}|]'.split("|"),
  ...'[TOOL_CALLS]§[TOOL_CALLS]run[ARGS]{"n": -1}§[{"name": "run", "arguments": {}}, {"name": 3}]§run[CALL_ID]x[ARGS]{}§[ARGS]'.split("§"),
  "[run(cmd='a]', n=1), run(o={'k': [1.5, None]})]",
  "[run(",
  "cmd=r'''x''' \"y\"",
  "n=1e-",
  "n==3",
  ")]",
  "[note (b)]",
  "[1, 2]",
  "<function=run>\n<parameter=cmd>\nx\n</parameter>\n</function>",
  "<function=run>",
  "<parameter=n>\n12",
  "</parameter>",
  "</function>",
  "<think>",
  "</think>",
  "<|im_end|>",
  "</s>",
  "<",
  "\\",
  '"',
  "\n",
  " ",
  "word",
  "😀",
];
const texts = fc.array(fc.oneof(fc.constantFrom(...fragments), fc.string({ maxLength: 3 })), { maxLength: 9 }).map((parts) => parts.join(""));

function inPieces(text: string, cuts: readonly number[], options: ParseOptions): ParsedAnswer {
  const parser = createAnswerParser(options);
  const bounds = [0, ...cuts.map((cut) => cut % (text.length + 1)).sort((left, right) => left - right), text.length];
  const deltas = bounds.slice(1).flatMap((end, index) => parser.push(text.slice(bounds[index], end)));
  const last = parser.end();
  const all = [...deltas, ...last.deltas];
  const channel = (type: "content" | "reasoning") => all.flatMap((delta) => (delta.type === type ? [delta.delta] : [])).join("") || null;
  expect(last.answer.content).toBe(channel("content"));
  expect(last.answer.reasoning).toBe(channel("reasoning"));
  expect(last.answer.toolCalls).toEqual(all.flatMap((delta) => (delta.type === "tool-call" ? [delta.call] : [])));
  return last.answer;
}

describe.each(toolCallFormats)("%s", (format) => {
  test("a text in any pieces is parsed as the whole, and nothing of it is lost", () => {
    fc.assert(
      fc.property(texts, fc.array(fc.nat(), { maxLength: 12 }), fc.boolean(), (text, cuts, reasoningOpenedByPrompt) => {
        const options: ParseOptions = { format, tools, reasoningOpenedByPrompt };
        const whole = parseAnswer(text, options);
        expect(inPieces(text, cuts, options)).toEqual(whole);
        expect(
          inPieces(
            text,
            [...text].map((_, index) => index),
            options,
          ),
        ).toEqual(whole);
        for (const call of whole.toolCalls) expect(JSON.parse(call.arguments)).toBeTypeOf("object");
        if (whole.toolCalls.length === 0)
          expect(squeezed(`${whole.reasoning ?? ""}${whole.content ?? ""}`)).toBe(squeezed(withoutThinkTags(text, reasoningOpenedByPrompt)));
      }),
      { numRuns: 400 },
    );
  });

  test.each(goodAndBroken[format].map((one) => [one.name, one] as const))("%s", (_, one) => {
    const answer = parseAnswer(one.text, { format, tools });
    expect(answer.toolCalls.map((call) => `${call.name} ${call.arguments}`)).toEqual(one.calls);
    expect(answer.content).toBe(one.content);
    expect(answer.unparsed).toBe(one.unparsed ?? false);
  });
});

function squeezed(text: string): string {
  return text.replace(/\s/g, "");
}

/** The text less the tags that parted reasoning from content. */
function withoutThinkTags(text: string, opened: boolean): string {
  const begin = /^\s*<think>/.exec(text);
  const inside = begin === null ? text : text.slice(begin[0].length);
  return begin === null && !opened ? text : inside.replace("</think>", "");
}

interface Example {
  readonly name: string;
  readonly text: string;
  readonly calls: readonly string[];
  readonly content: string | null;
  readonly unparsed?: boolean;
}

const goodAndBroken: Record<ToolCallFormat, readonly Example[]> = {
  hermes: [
    {
      name: "broken, then good",
      text: '<tool_call>\n{"name": "run", "arguments": {"n": }}\n</tool_call>\n<tool_call>\n{"name": "run", "arguments": {"n": 1}}\n</tool_call>',
      calls: ['run {"n":1}'],
      content: '<tool_call>\n{"name": "run", "arguments": {"n": }}\n</tool_call>',
      unparsed: true,
    },
    {
      name: "a missing brace costs only its own call",
      text: '<tool_call>{"name": "run", "arguments": {"n": 1}</tool_call><tool_call>{"name": "run", "arguments": {}}</tool_call>',
      calls: ["run {}"],
      content: '<tool_call>{"name": "run", "arguments": {"n": 1}</tool_call>',
      unparsed: true,
    },
    {
      name: "a brace too many cannot be read",
      text: '<tool_call>{"name": "run", "arguments": {}}}</tool_call>',
      calls: [],
      content: '<tool_call>{"name": "run", "arguments": {}}}</tool_call>',
      unparsed: true,
    },
    {
      name: "numbers stay as written",
      text: '<tool_call>{"name": "run", "arguments": {"n": 12345678901234567890, "x": 1.0}}',
      calls: ['run {"n":12345678901234567890,"x":1.0}'],
      content: null,
    },
    { name: "a closing tag cut in the middle", text: '<tool_call>{"name": "run", "arguments": {}}\n</tool_', calls: ["run {}"], content: null },
  ],
  llama3_json: [
    {
      name: "broken, then good",
      text: '{"name": "run", "parameters": {"n": }}; {"name": "run", "parameters": {"n": 1}}',
      calls: ['run {"n":1}'],
      content: '{"name": "run", "parameters": {"n": }}; '.trim(),
      unparsed: true,
    },
    {
      name: "what stands inside a broken call is not run",
      text: '{"name": "run", "parameters": {cmd: {"name": "run", "parameters": {}}}}',
      calls: [],
      content: '{"name": "run", "parameters": {cmd: {"name": "run", "parameters": {}}}}',
      unparsed: true,
    },
    {
      name: "nor what stands inside an answer",
      text: '{"plan": {"name": "run", "parameters": {}}}',
      calls: [],
      content: '{"plan": {"name": "run", "parameters": {}}}',
    },
    { name: "a person's name is no call", text: '{"name": "Ada", "age": 36}', calls: [], content: '{"name": "Ada", "age": 36}' },
    { name: "a tool's name alone is a broken one", text: '{"name": "run"}', calls: [], content: '{"name": "run"}', unparsed: true },
    { name: "code behind the python tag", text: "<|python_tag|>print(1)", calls: [], content: "<|python_tag|>print(1)", unparsed: true },
  ],
  mistral: [
    {
      name: "broken, then good",
      text: '[TOOL_CALLS]run[ARGS]{"n": }[TOOL_CALLS]run[ARGS]{"n": 1}',
      calls: ['run {"n":1}'],
      content: '[TOOL_CALLS]run[ARGS]{"n": }',
      unparsed: true,
    },
    {
      name: "one of an array without a name",
      text: '[TOOL_CALLS][{"name": "run", "arguments": {}}, {"arguments": {}}]',
      calls: ["run {}"],
      content: '{"arguments": {}}',
      unparsed: true,
    },
    { name: "with a call id", text: '[TOOL_CALLS]run[CALL_ID]abcdefghi[ARGS]{"n": 1}', calls: ['run {"n":1}'], content: null },
  ],
  pythonic: [
    { name: "broken, then good", text: "[run(cmd=ls)]\n[run(n=1)]", calls: ['run {"n":1}'], content: "[run(cmd=ls)]", unparsed: true },
    {
      name: "literals of every spelling",
      text: "[run(a='''x\ny''', b='p' \"q\", c=0x1F, d=1_000, e=-.5e1, f=r'\\n', g='\\x41\\u00e9\\101\\q', h=[], i={}, j=[1,], k=+2)]",
      calls: ['run {"a":"x\\ny","b":"pq","c":31,"d":1000,"e":-5.0,"f":"\\\\n","g":"AéA\\\\q","h":[],"i":{},"j":[1],"k":2}'],
      content: null,
    },
    { name: "a keyword twice", text: "[run(n=1, n=2)]", calls: [], content: "[run(n=1, n=2)]", unparsed: true },
    { name: "a function of mathematics", text: "[f(x)] is the image of x.", calls: [], content: "[f(x)] is the image of x." },
    { name: "an infinite number", text: "[run(n=1e999)]", calls: [], content: "[run(n=1e999)]", unparsed: true },
  ],
  qwen3_coder: [
    {
      name: "broken, then good",
      text: "<tool_call>\n<function=run>\noops\n</function>\n</tool_call>\n<tool_call>\n<function=run>\n<parameter=n>\n1\n</parameter>\n</function>\n</tool_call>",
      calls: ['run {"n":1}'],
      content: "<tool_call>\n<function=run>\noops\n</function>\n</tool_call>",
      unparsed: true,
    },
    {
      name: "tags inside a value",
      text: "<function=run>\n<parameter=cmd>\necho '</function></tool_call>'\n</parameter>\n</function>",
      calls: ['run {"cmd":"echo \'</function></tool_call>\'"}'],
      content: null,
    },
    {
      name: "a closing tag left out before the next parameter",
      text: "<function=run>\n<parameter=cmd>\na\n<parameter=n>\n2\n</parameter>\n</function>",
      calls: ['run {"cmd":"a","n":2}'],
      content: null,
    },
    {
      name: "types through anyOf, and what fits none",
      text: "<function=run>\n<parameter=l>\nnull\n</parameter>\n<parameter=o>\n{'a': True}\n</parameter>\n<parameter=n>\n1.5\n</parameter>\n</function>",
      calls: ['run {"l":null,"o":{"a":true},"n":"1.5"}'],
      content: null,
    },
    {
      name: "JSON where XML belongs",
      text: '<tool_call>{"name": "run"}</tool_call>',
      calls: [],
      content: '<tool_call>{"name": "run"}</tool_call>',
      unparsed: true,
    },
    {
      name: "cut after a parameter",
      text: "<function=run>\n<parameter=n>\n1\n</parameter>\n",
      calls: [],
      content: "<function=run>\n<parameter=n>\n1\n</parameter>",
      unparsed: true,
    },
  ],
};

test("a policy without tool calls has its reasoning taken off and nothing else", () => {
  expect(parseAnswer("<think>a</think>\n[run()] <tool_call>", { format: null, tools })).toEqual({
    content: "[run()] <tool_call>",
    reasoning: "a",
    toolCalls: [],
    unparsed: false,
  });
});

test("no piece given out ends in half a character", () => {
  const parser = createAnswerParser({ format: "hermes", tools });
  expect(parser.push("a\ud83d")).toEqual([{ type: "content", delta: "a" }]);
  expect(parser.push("\ude00")).toEqual([{ type: "content", delta: "😀" }]);
  expect(parser.end().answer.content).toBe("a😀");
});

test("a long call in small pieces takes no quadratic time", () => {
  const text = `<tool_call>{"name": "run", "arguments": {"cmd": "${"x{}</tool_call>".repeat(12_000)}"}}</tool_call>`;
  const parser = createAnswerParser({ format: "hermes", tools });
  const started = performance.now();
  for (let at = 0; at < text.length; at += 4) parser.push(text.slice(at, at + 4));
  expect(parser.end().answer.toolCalls).toHaveLength(1);
  expect(performance.now() - started).toBeLessThan(5_000);
});
