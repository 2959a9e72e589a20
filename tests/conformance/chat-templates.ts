import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, parseJson } from "../../engine/json/index.ts";
import {
  type ChatInput,
  type ChatTemplate,
  chatContext,
  checkStability,
  compileTemplate,
  type Rendered,
  type RenderOptions,
  TemplateError,
  variablesContext,
} from "../../engine/templates/index.ts";
import { firstDifference, type Report } from "./report.ts";

const expectation = z.object({ expected: z.string().optional(), error: z.string().optional(), error_kind: z.string().optional() });
const meta = z.object({ now: z.string() });
const span = z.tuple([z.number(), z.number()]);
const templateFile = z.object({
  meta,
  cases: z.array(expectation.extend({ name: z.string(), generation_spans: z.array(span).optional() })),
  stability: z
    .array(
      z.object({
        conversation: z.string(),
        turns: z.array(z.object({ turn: z.number(), next: z.number(), prompt_kept: z.boolean(), reply_kept: z.boolean() })),
      }),
    )
    .default([]),
});
const featureFile = z.object({ meta, cases: z.array(expectation.extend({ source: z.string(), rare: z.boolean().optional() })) });

/** Templates with NAME.cases.json beside them, and the one-liners of jinja-features.json that some template may use. */
export async function checkChatTemplates(folder: string, report: Report): Promise<void> {
  for (const file of (await readdir(folder)).sort()) {
    const name = /^(.*)\.cases\.json$/.exec(file)?.[1];
    if (name !== undefined)
      await checkTemplate(name, await readFile(join(folder, `${name}.jinja`), "utf8"), await readFile(join(folder, file), "utf8"), report);
    if (file === "jinja-features.json") await checkFeatures(await readFile(join(folder, file), "utf8"), report);
  }
}

async function checkTemplate(name: string, source: string, written: string, report: Report): Promise<void> {
  const { cases, stability, meta } = templateFile.parse(JSON.parse(written));
  const options = { now: new Date(meta.now) };
  const template = compileTemplate(source);
  const inputs = items(field(parseJson(written), "cases")).map(chatInput);
  for (const [index, one] of cases.entries()) {
    const input = inputs[index];
    if (input === undefined) continue;
    await report.run(`${name}/${one.name}`, () => checkRendering(() => template.render(chatContext(input), options), one, one.generation_spans));
  }
  for (const { conversation, turns } of stability) {
    const input = inputs[cases.findIndex((one) => one.name === conversation)];
    await report.run(`${name}/stability of ${conversation}`, () =>
      input === undefined ? "no case has this name" : compareStability(template, input, options, turns),
    );
  }
}

function compareStability(template: ChatTemplate, input: ChatInput, options: RenderOptions, turns: readonly unknown[]): string | null {
  const found = checkStability(template, input, options).map(({ turn, next, promptKept, replyKept }) => ({
    turn,
    next,
    prompt_kept: promptKept,
    reply_kept: replyKept,
  }));
  return firstDifference({ turns: [found, turns] });
}

async function checkFeatures(written: string, report: Report): Promise<void> {
  const { cases, meta } = featureFile.parse(JSON.parse(written));
  const context = field(parseJson(written), "context");
  const options = { now: new Date(meta.now) };
  for (const one of cases) {
    if (one.rare === true) continue;
    await report.run(`one-liner ${one.source}`, () =>
      checkRendering(() => compileTemplate(one.source).render(variablesContext(isJsonObject(context) ? context : new Map()), options), one),
    );
  }
}

function checkRendering(
  render: () => Rendered,
  one: z.infer<typeof expectation>,
  generationSpans?: readonly (readonly [number, number])[],
): string | null {
  let rendered: Rendered;
  try {
    rendered = render();
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    if (one.error === undefined) return `refused: ${error.message}`;
    if (one.error_kind === "raise_exception" && !error.message.includes(one.error)) return `the error does not say "${one.error}": ${error.message}`;
    return null;
  }
  if (one.expected === undefined) return `rendered, though it should have failed with "${one.error}"`;
  const spans = rendered.generationSpans.map(({ start, end }) => [start, end]);
  return firstDifference({ text: [rendered.text, one.expected], "generation spans": [spans, generationSpans ?? spans] });
}

/** A case as the template takes it. Read by the reader that keeps numbers and key order. */
function chatInput(one: JsonValue): ChatInput {
  const variables = field(one, "variables");
  const tools = field(one, "tools");
  return {
    messages: items(field(one, "messages")).filter(isJsonObject),
    tools: isJsonArray(tools) ? tools : null,
    addGenerationPrompt: field(one, "add_generation_prompt") === true,
    variables: isJsonObject(variables) ? variables : (new Map() satisfies JsonObject),
  };
}

function field(value: JsonValue | undefined, key: string): JsonValue | undefined {
  return isJsonObject(value) ? value.get(key) : undefined;
}

function items(value: JsonValue | undefined): readonly JsonValue[] {
  return isJsonArray(value) ? value : [];
}
