/** The stream of JSON lines that pull, build and import answer with: each line reported, an error line thrown. */
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { z } from "zod";

const eventSchema = z.object({
  stream: z.string().optional(),
  status: z.string().optional(),
  id: z.string().optional(),
  error: z.string().optional(),
});

const wordsKept = 12;

/** Rejects with the engine's error and the last words before it. */
export async function readProgress(stream: NodeJS.ReadableStream, report: (line: string) => void): Promise<void> {
  const words: string[] = [];
  let said = "";
  // After an error line the engine cuts the connection, when nobody reads any more.
  stream.on("error", () => undefined);
  for await (const line of createInterface({ input: stream as Readable })) {
    if (line.trim() === "") continue;
    const event = eventSchema.parse(JSON.parse(line));
    if (event.error !== undefined) throw new Error([event.error.trim(), ...words.slice(-wordsKept)].join(" | "));
    const text = event.stream ?? (event.status === undefined ? "" : `${event.id === undefined ? "" : `${event.id}: `}${event.status}`);
    for (const part of text.split("\n")) {
      const word = part.trimEnd();
      // A download repeats its status with every packet.
      if (word.trim() === "" || word === said) continue;
      said = word;
      words.push(word);
      report(word);
    }
  }
}
