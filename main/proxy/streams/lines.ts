/** Streams of lines, each a text of its own (NDJSON), cut anywhere, inside a character too. */
interface LineReader {
  /** Lines that are complete now, without their ends; empty ones are left out. */
  push(bytes: Uint8Array): readonly string[];
}

export function createLineReader(): LineReader {
  const decoder = new TextDecoder("utf-8");
  let rest = "";
  return {
    push(bytes) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      return lines.map((line) => line.trim()).filter((line) => line !== "");
    },
  };
}
