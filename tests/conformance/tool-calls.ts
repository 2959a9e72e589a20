import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { compactJson, isJsonArray, isJsonObject, type JsonValue, parseJson } from "../../engine/json/index.ts";
import {
  createAnswerParser,
  type ParsedAnswer,
  type ParseOptions,
  parseAnswer,
  type ToolSchema,
  toolCallFormats,
} from "../../engine/tool-calls/index.ts";
import { firstDifference, type Report } from "./report.ts";

const caseSchema = z.object({
  format: z.enum(toolCallFormats),
  name: z.string(),
  text: z.string(),
  reasoning_opened_by_prompt: z.boolean().default(false),
  expected: z.object({
    content: z.string().nullable(),
    reasoning: z.string().nullable(),
    tool_calls: z.array(z.object({ name: z.string(), arguments: z.unknown() })),
    unparsed: z.boolean(),
  }),
});
const casesSchema = z.object({ cases: z.array(caseSchema) });

/** cases.json: each text parsed whole, and again in pieces at every cut. */
export async function checkToolCalls(folder: string, report: Report): Promise<void> {
  const written = await readFile(join(folder, "cases.json"), "utf8");
  const tools = readTools(parseJson(written));
  for (const one of casesSchema.parse(JSON.parse(written)).cases) await report.run(`${one.format}/${one.name}`, () => checkCase(one, tools));
}

function checkCase(one: z.infer<typeof caseSchema>, tools: readonly ToolSchema[]): string | null {
  const options: ParseOptions = { format: one.format, tools, reasoningOpenedByPrompt: one.reasoning_opened_by_prompt };
  const whole = parseAnswer(one.text, options);
  const difference = firstDifference({
    content: [trimmed(whole.content), trimmed(one.expected.content)],
    reasoning: [trimmed(whole.reasoning), trimmed(one.expected.reasoning)],
    tool_calls: [whole.toolCalls.map((call) => ({ name: call.name, arguments: JSON.parse(call.arguments) })), one.expected.tool_calls],
    unparsed: [whole.unparsed, one.expected.unparsed],
  });
  if (difference !== null) return difference;
  for (let cut = 0; cut <= one.text.length; cut++) {
    const pieces = firstDifference({
      [`parse in two pieces, cut at ${cut}`]: [inPieces([one.text.slice(0, cut), one.text.slice(cut)], options), whole],
    });
    if (pieces !== null) return pieces;
  }
  return firstDifference({ "parse character by character": [inPieces(one.text.split(""), options), whole] });
}

/** The answer as a client of the stream puts it together. */
function inPieces(pieces: readonly string[], options: ParseOptions): ParsedAnswer {
  const parser = createAnswerParser(options);
  const deltas = pieces.flatMap((piece) => parser.push(piece));
  const { deltas: last, answer } = parser.end();
  const channel = (type: "content" | "reasoning") =>
    [...deltas, ...last].flatMap((delta) => (delta.type === type ? [delta.delta] : [])).join("") || null;
  const toolCalls = [...deltas, ...last].flatMap((delta) => (delta.type === "tool-call" ? [delta.call] : []));
  return { content: channel("content"), reasoning: channel("reasoning"), toolCalls, unparsed: answer.unparsed };
}

function trimmed(text: string | null): string | null {
  return text === null || text.trim() === "" ? null : text.trim();
}

/** Tools as the request had them; their schemas stay text. */
function readTools(value: JsonValue): ToolSchema[] {
  const tools = isJsonObject(value) ? value.get("tools") : undefined;
  return (isJsonArray(tools) ? tools : []).flatMap((tool) => {
    const definition = isJsonObject(tool) ? tool.get("function") : undefined;
    if (!isJsonObject(definition)) return [];
    const name = definition.get("name");
    const parameters = definition.get("parameters");
    return typeof name === "string" ? [{ name, ...(parameters === undefined ? {} : { parameters: compactJson(parameters) }) }] : [];
  });
}
