import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { loadTokenizer, type StreamingDecoder, type Tokenizer } from "../../engine/tokenizers/index.ts";
import { firstDifference, type Report } from "./report.ts";

const ids = z.array(z.number());
const decodings = z.object({
  name: z.string(),
  ids,
  decode: z.string(),
  decode_skip: z.string(),
  stream: z.array(z.string()).optional(),
  stream_loose: z.boolean().optional(),
});
const textCase = decodings.extend({ text: z.string(), ids_plain: ids, offsets_plain: ids, stream_skip: z.array(z.string()).optional() });
const casesSchema = z.object({ text_cases: z.array(textCase), id_cases: z.array(decodings) });

/** Folders with tokenizer.json, tokenizer_config.json and cases.json: ids, offsets, decoding and streaming, compared exactly. */
export async function checkTokenizers(folder: string, report: Report): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue;
    const read = (file: string) => readFile(join(folder, entry.name, file), "utf8");
    const tokenizer = loadTokenizer(await read("tokenizer.json"), await read("tokenizer_config.json"));
    const cases = casesSchema.parse(JSON.parse(await read("cases.json")));
    for (const one of cases.text_cases) await report.run(`${entry.name}/${one.name}`, () => checkText(tokenizer, one));
    for (const one of cases.id_cases) await report.run(`${entry.name}/ids ${one.name}`, () => checkIds(tokenizer, one));
  }
}

function checkText(tokenizer: Tokenizer, one: z.infer<typeof textCase>): string | null {
  const withOffsets = tokenizer.encodeWithOffsets(one.text);
  const difference = firstDifference({
    ids: [Array.from(tokenizer.encode(one.text, { specialTokens: true })), one.ids],
    ids_plain: [Array.from(tokenizer.encode(one.text)), one.ids_plain],
    "ids with offsets": [Array.from(withOffsets.ids), one.ids_plain],
    offsets_plain: [Array.from(withOffsets.offsets), one.offsets_plain],
    ...wholeDecodings(tokenizer, one),
  });
  if (difference !== null) return difference;
  return (
    checkStream(tokenizer, one.ids_plain, one.stream, one.stream_loose, false) ??
    checkStream(tokenizer, one.ids_plain, one.stream_skip ?? one.stream, one.stream_loose, true)
  );
}

function checkIds(tokenizer: Tokenizer, one: z.infer<typeof decodings>): string | null {
  return firstDifference(wholeDecodings(tokenizer, one)) ?? checkStream(tokenizer, one.ids, one.stream, one.stream_loose, false);
}

function wholeDecodings(tokenizer: Tokenizer, one: z.infer<typeof decodings>): Record<string, readonly [unknown, unknown]> {
  return {
    decode: [tokenizer.decode(one.ids), one.decode],
    decode_skip: [tokenizer.decode(one.ids, { skipSpecialTokens: true }), one.decode_skip],
    "joined pieces": [tokenizer.decodePieces(one.ids).join(""), one.decode],
  };
}

function checkStream(
  tokenizer: Tokenizer,
  tokenIds: readonly number[],
  expected: readonly string[] | undefined,
  loose: boolean | undefined,
  skipSpecialTokens: boolean,
): string | null {
  const streamed = stream(tokenizer.streamingDecoder({ skipSpecialTokens }), tokenIds);
  const name = skipSpecialTokens ? "stream_skip" : "stream";
  if (expected !== undefined && loose !== true) return firstDifference({ [name]: [streamed, expected] });
  return firstDifference({ [`joined ${name}`]: [streamed.join(""), tokenizer.decode(tokenIds, { skipSpecialTokens })] });
}

function stream(decoder: StreamingDecoder, tokenIds: readonly number[]): string[] {
  return [...tokenIds.map((id) => decoder.push(id)), decoder.flush()];
}
