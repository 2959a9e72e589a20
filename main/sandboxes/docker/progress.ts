/** The stream of JSON lines that pull, build and import answer with: each line reported, an error line thrown. */
import { StringDecoder } from "node:string_decoder";
import { z } from "zod";
import { traceLines } from "./build-trace.ts";

const eventSchema = z.object({
  stream: z.string().optional(),
  status: z.string().optional(),
  id: z.string().optional(),
  error: z.string().optional(),
  /** A string with BuildKit's trace. */
  aux: z.unknown().optional(),
});

const wordsKept = 12;

/** Rejects with the engine's error and the last words before it. */
export async function readProgress(stream: NodeJS.ReadableStream, report: (line: string) => void): Promise<void> {
  const words: string[] = [];
  for await (const line of linesOf(stream)) {
    if (line.trim() === "") continue;
    const event = eventSchema.parse(JSON.parse(line));
    if (event.error !== undefined) throw new Error([event.error.trim(), ...words.slice(-wordsKept)].join(" | "));
    const traced = event.id === "moby.buildkit.trace" && typeof event.aux === "string" ? traceLines(event.aux).join("\n") : undefined;
    const text = event.stream ?? traced ?? (event.status === undefined ? "" : `${event.id === undefined ? "" : `${event.id}: `}${event.status}`);
    for (const part of text.split("\n")) {
      const word = part.trimEnd();
      // A download repeats its status with every packet.
      if (word.trim() === "" || word === words.at(-1)) continue;
      words.push(word);
      report(word);
    }
  }
}

async function* linesOf(stream: NodeJS.ReadableStream): AsyncGenerator<string> {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  for await (const chunk of stream) {
    const lines = (rest + decoder.write(Buffer.from(chunk))).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  yield rest + decoder.end();
}
