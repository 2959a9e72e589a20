/** Python's `textwrap.wrap` of one line, with tabs and white space left as they are. */

export interface WrapOptions {
  readonly width: number;
  readonly breakLongWords: boolean;
  readonly breakOnHyphens: boolean;
}

const chunksAtHyphens =
  /(\s+|(?<=[\w!"'&.,?])-{2,}(?=\w)|[^\s\w]*\w+[^0-9\W]-(?=\w+[^0-9\W])|[^\s]+?(?:(?<=[\w!"'&.,?])(?=-{2,}\w)|-(?=[^\d\W])|(?=\s)|$))/;

function chunksOf(line: string, options: WrapOptions): string[] {
  const pattern = options.breakOnHyphens ? chunksAtHyphens : /(\s+)/;
  return line.split(pattern).filter((chunk) => chunk !== undefined && chunk !== "");
}

/** The lines without line ends; none for an empty line. */
export function wrapLine(line: string, options: WrapOptions): string[] {
  const width = Math.max(1, options.width);
  const chunks = chunksOf(line, options).reverse();
  const lines: string[] = [];
  while (chunks.length > 0) {
    const current: string[] = [];
    let length = 0;
    if (lines.length > 0 && isBlank(chunks.at(-1))) chunks.pop();
    for (let chunk = chunks.at(-1); chunk !== undefined && length + chunk.length <= width; chunk = chunks.at(-1)) {
      current.push(chunk);
      length += chunk.length;
      chunks.pop();
    }
    const long = chunks.at(-1);
    if (long !== undefined && long.length > width) {
      const room = options.breakLongWords ? width - length : current.length === 0 ? long.length : 0;
      if (room > 0) {
        current.push(long.slice(0, room));
        chunks.pop();
        if (room < long.length) chunks.push(long.slice(room));
      }
    }
    if (isBlank(current.at(-1))) current.pop();
    if (current.length > 0) lines.push(current.join(""));
  }
  return lines;
}

function isBlank(chunk: string | undefined): boolean {
  return chunk !== undefined && chunk.trim() === "";
}
