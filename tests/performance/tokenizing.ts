import { readFile } from "node:fs/promises";
import { Tokenizer } from "@huggingface/tokenizers";
import { loadTokenizer } from "../../engine/tokenizers/index.ts";
import { type BenchmarkRow, compare, rate } from "./measure/compare.ts";

const promptTokens = 100_000;

/** Tokenizing a whole prompt of 100,000 tokens, as a call without recorded ids needs it: with a pre-tokenizer, and without one. */
export async function benchmark(note: (line: string) => void): Promise<readonly BenchmarkRow[]> {
  const rows: BenchmarkRow[] = [];
  for (const name of ["chatml-bpe", "spm-legacy"]) {
    const folder = `tests/fixtures/tokenizers/${name}`;
    const definition = await readFile(`${folder}/tokenizer.json`, "utf8");
    const tokenizer = loadTokenizer(definition);
    const library = new Tokenizer(JSON.parse(definition), {});
    const text = longText(JSON.parse(await readFile(`${folder}/cases.json`, "utf8")), (piece) => tokenizer.encode(piece).length);
    const ids = tokenizer.encode(text);
    note(`${name}: ${text.length} characters, ${ids.length} tokens`);
    rows.push(
      await compare({
        name: `tokenizing a prompt, ${name}`,
        unit: "tokens/s",
        aim: "≥ 500,000",
        measure: () => rate(ids.length, () => tokenizer.encode(text)),
        reference: { name: "@huggingface/tokenizers", measure: () => rate(ids.length, () => library.encode(text, { add_special_tokens: false })) },
      }),
      await compare({
        name: `decoding a prompt, ${name}`,
        unit: "tokens/s",
        aim: "≥ 500,000",
        measure: () => rate(ids.length, () => tokenizer.decode(ids)),
        reference: { name: "@huggingface/tokenizers", measure: () => rate(ids.length, () => library.decode(Array.from(ids))) },
      }),
    );
  }
  return rows;
}

/** The texts of the cases one after the other, each time numbered anew, until there are enough tokens. */
function longText(cases: { readonly text_cases: readonly { readonly text: string }[] }, length: (piece: string) => number): string {
  const pieces: string[] = [];
  for (let round = 0, tokens = 0; tokens < promptTokens; round++) {
    const piece = cases.text_cases.map((one, index) => `${round}.${index} ${one.text}\n`).join("");
    pieces.push(piece);
    tokens += length(piece);
  }
  return pieces.join("");
}
