import { modelFolder } from "./engine/models.ts";
import { measureInTurns, type Work } from "./engine/peers.ts";
import { speedRows } from "./engine/rows.ts";
import type { BenchmarkRow } from "./measure/compare.ts";

const decodingAims = { eager: 1.3, compiled: 1.3 };
const readingAims = { eager: 1, compiled: 1 };
const repetitions = 7;

/** Tokens a second of the decoding graph, one at a time for several lanes, and of whole prompts. */
export async function benchmark(note: (line: string) => void): Promise<readonly BenchmarkRow[]> {
  const [small, large] = [await modelFolder("3M"), await modelFolder("121M")];
  const decoding = (folder: string, rank: number, lanes: number, steps: number): Work => {
    return { task: "decoding", folder, rank, lanes, prompt: 128, steps };
  };
  const work: readonly (readonly [name: string, work: Work, aims: typeof decodingAims])[] = [
    ...[1, 8, 32].map((lanes) => [`decoding, 3M, ${lanes} lanes`, decoding(small, 0, lanes, 64), decodingAims] as const),
    ...[1, 8].map((lanes) => [`decoding, 121M, LoRA 16, ${lanes} lanes`, decoding(large, 16, lanes, 16), decodingAims] as const),
    ...[512, 2048].map(
      (prompt) => [`reading a prompt of ${prompt}, 121M`, { task: "reading", folder: large, rank: 0, prompt } as Work, readingAims] as const,
    ),
  ];
  const rows: BenchmarkRow[] = [];
  for (const [name, one, aims] of work) {
    note(name);
    rows.push(...speedRows(name, await measureInTurns(one, repetitions, note), aims));
  }
  return rows;
}
