/** Whole lines out of chunks of bytes, each read as JSON. */

/** A program that writes a longer line is not speaking to us. */
const longestLine = 32 * 1024 * 1024;

export class JsonLines {
  #rest: Buffer[] = [];
  #size = 0;

  /** The values of the lines that this chunk ends. Throws for a line that is not JSON, or too long. */
  push(chunk: Buffer): readonly unknown[] {
    const values: unknown[] = [];
    let from = 0;
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      const line = Buffer.concat([...this.#rest, chunk.subarray(from, at)]).toString("utf8");
      this.#rest = [];
      this.#size = 0;
      from = at + 1;
      if (line.trim() !== "") values.push(JSON.parse(line));
    }
    if (from < chunk.length) {
      this.#rest.push(chunk.subarray(from));
      this.#size += chunk.length - from;
    }
    if (this.#size > longestLine) throw new Error("a line is too long");
    return values;
  }
}
