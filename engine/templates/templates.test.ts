import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, parseJson } from "../json/index.ts";
import { type ChatInput, chatContext, checkStability, compileTemplate, type Rendered, TemplateError, variablesContext } from "./index.ts";

const folder = new URL("../../tests/fixtures/chat-templates/", import.meta.url);
const names = ["chatml-stable", "thinking-drop", "header-json", "inst-brackets", "pythonic-calls", "xml-coder"];
const now = new Date("2031-02-07T09:05:03");

function readText(name: string): string {
  return readFileSync(new URL(name, folder), "utf8");
}

function object(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : new Map();
}

function list(value: JsonValue | undefined): readonly JsonValue[] {
  return isJsonArray(value) ? value : [];
}

function inputOf(found: JsonObject): ChatInput {
  const tools = found.get("tools");
  return {
    messages: list(found.get("messages")).map(object),
    tools: isJsonArray(tools) ? tools : null,
    addGenerationPrompt: found.get("add_generation_prompt") === true,
    variables: object(found.get("variables")),
  };
}

function attempt(render: () => Rendered): Rendered | TemplateError {
  try {
    return render();
  } catch (error) {
    if (error instanceof TemplateError) return error;
    throw error;
  }
}

function render(source: string, variables = "{}"): string {
  return compileTemplate(source).render(variablesContext(object(parseJson(variables))), { now }).text;
}

describe.each(names)("the template %s", (name) => {
  const template = compileTemplate(readText(`${name}.jinja`));
  const document = object(parseJson(readText(`${name}.cases.json`)));
  const cases = list(document.get("cases")).map(object);

  it("renders every case as the reference, spans and errors included", () => {
    for (const found of cases) {
      const result = attempt(() => template.render(chatContext(inputOf(found)), { now }));
      const label = String(found.get("name"));
      if (result instanceof TemplateError) expect(result.reason, label).toBe(found.get("error"));
      else {
        expect(result.text, label).toBe(found.get("expected"));
        expect(
          result.generationSpans.map(({ start, end }) => [BigInt(start), BigInt(end)]),
          label,
        ).toEqual(list(found.get("generation_spans")));
      }
    }
  });

  it("gives the same stability verdicts", () => {
    const byName = new Map(cases.map((found) => [found.get("name"), found]));
    for (const conversation of list(document.get("stability")).map(object)) {
      const turns = checkStability(template, inputOf(object(byName.get(conversation.get("conversation") ?? null))), { now });
      const expected = list(conversation.get("turns")).map(object);
      expect(turns).toEqual(
        expected.map((turn) => ({
          turn: Number(turn.get("turn")),
          next: Number(turn.get("next")),
          promptKept: turn.get("prompt_kept"),
          replyKept: turn.get("reply_kept"),
        })),
      );
    }
  });

  it("tells content from its own text", () => {
    for (const found of cases) {
      const result = attempt(() => template.render(chatContext(inputOf(found)), { now }));
      if (result instanceof TemplateError) continue;
      const own = withoutSpans(result);
      for (const word of ["now obey", "get_weather", "run_command", "red what"]) expect(own).not.toContain(word);
      expect(result.contentSpans.every((span, index, all) => span.start < span.end && span.start >= (all[index - 1]?.end ?? 0))).toBe(true);
    }
  });
});

function withoutSpans({ text, contentSpans }: Rendered): string {
  let own = "";
  let done = 0;
  for (const span of contentSpans) {
    own += text.slice(done, span.start);
    done = span.end;
  }
  return own + text.slice(done);
}

describe("the language", () => {
  const document = object(parseJson(readText("jinja-features.json")));
  const variables = variablesContext(object(document.get("context")));

  it.each(list(document.get("cases")).map((found) => [String(object(found).get("source")), object(found)]))("%s", (source, found) => {
    const result = attempt(() => compileTemplate(source).render(variables, { now }));
    if (result instanceof TemplateError) expect(result.reason).toBe(found.get("error"));
    else expect(result.text).toBe(found.get("expected"));
  });

  it.each([
    // The reference's own oddities, each seen in jinja2 3.1.6.
    ["{% for x in [1] %}{{ x }}{% break %}{% else %}none{% endfor %}", "1none"],
    ["{% for x in [1] %}{% for y in [] %}{% else %}{% break %}{% endfor %}after{% endfor %}", ""],
    ["{% generation %}{{ varargs }}{{ kwargs }}{% endgeneration %}", "(){}"],
    ["{% for x in [1] %}{{ q }}{% endfor %}{% set q = 1 %}", ""],
    ["{% if true %}{% set q = 1 %}{% endif %}{% for x in [1] %}{{ q }}{% endfor %}", "1"],
    ["{{ 'a\nb\n'.split(none, 1) }}", "['a', 'b\\n']"],
    ["{{ 'abc'.replace('', '-', 2) }}", "-a-bc"],
    ["{{ (1 == 1.0) ~ (none == missing) ~ ([1] == (1,)) }}", "TrueFalseFalse"],
    ["{{ 2.675 | round(2) }} {{ 0.5 | round }} {{ 1.5 | round }} {{ 25 | round(-1) }}", "2.67 0.0 2.0 20"],
    ["{{ '%.0f %.1f %g %e' % (2.5, 0.25, 1e-05, 12345.678) }}", "2 0.2 1e-05 1.234568e+04"],
    ["{{ 7 // -2 }} {{ -7 % 3.0 }} {{ 2 ** -1 }} {{ 10 ** 20 / 10 ** 10 }}", "-4 2.0 0.5 10000000000.0"],
    ["{{ {1: 'a', true: 'b'} }}", "{1: 'b'}"],
    ["{{ '{:>6}|{:^5}|{:,}'.format('é', 'b', 1234567) }}", "     é|  b  |1,234,567"],
    ["{% set x = 'q' | safe %}{{ x + '<' }}{{ x ~ '<' }}", "q&lt;q<"],
    ["{# c #}", ""],
  ])("%s", (source, expected) => {
    expect(render(source, '{"q": "outside"}')).toBe(expected);
  });

  it("says in which line a template fails", () => {
    expect(() => render("a\n{% if true %}\n{{ missing.x }}{% endif %}")).toThrow("'missing' is undefined (line 3 of the chat template)");
    expect(() => compileTemplate("a\n\n{{ x | }}")).toThrow("line 3");
  });

  it.each([
    "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
    "{% set ns = namespace(x='a') %}{% for i in range(100) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
    "{% set ns = namespace(x=[1]) %}{% for i in range(60) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x }}",
    "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
    "{{ 'a' * 10 ** 12 }}",
    "{{ 9 ** (9 ** 9) }}",
    `{{ ${"(".repeat(50_000)}1${")".repeat(50_000)} }}`,
    "{{ '%1000000000d' % 1 }}",
    "{{ ('x' * 100000) | replace('x', 'y' * 10000) }}",
  ])("does not let %j hang", (source) => {
    const result = attempt(() => compileTemplate(source).render(variablesContext(new Map()), { now }));
    expect(result).toMatchObject({ kind: "LimitError" });
  });
});

describe("marks", () => {
  const chat = (source: string, messages: string): Rendered => {
    const context = chatContext({ messages: list(parseJson(messages)).map(object), addGenerationPrompt: false });
    return compileTemplate(source).render(context, { now });
  };

  it.each([
    ["[{{ messages[0].content | trim | upper }}]", "[]"],
    ["{{ '<' ~ messages[0].content.split('x')[0] + '>' }}", "<>"],
    ["{{ messages[0] | tojson }}", '{"role": "user", "content": ""}'],
    ["{{ '%s|%5d' % (messages[0].content, 7) }}", "|    7"],
    ["{{ '{}!'.format(messages[0].content) }}", "!"],
    ["{{ messages[0].content | replace('a', '<|>') }}", "<|>"],
    ["{{ [messages[0].content, 'own'] | join('-') }}", "-own"],
    ["{% macro m(t) %}<{{ t }}>{% endmacro %}{{ m(messages[0].content) | indent }}", "<>"],
    ["{% set b %}b{{ messages[0].content[::-1] }}{% endset %}{{ b | replace('b', 'B') }}", "BB"],
    ["{% for c in messages[0].content %}{{ c }},{% endfor %}", ",,,"],
    ["{{ messages[0].role ~ messages }}", "user[{'role': 'user', 'content': ''}]"],
    ["{{ ('<' ~ messages[0].content ~ '>') | title }}", "<>"],
  ])("%s keeps them", (source, own) => {
    expect(withoutSpans(chat(source, '[{"role": "user", "content": "abx"}]'))).toBe(own);
  });

  it("are on a role that no template knows", () => {
    expect(chat("<|{{ messages[0].role }}|>", '[{"role": "im_end", "content": ""}]').contentSpans).toEqual([{ start: 2, end: 8, source: 0 }]);
  });
});
