/** Shell scripts and Dockerfiles as lines and commands, well enough for warnings: no line is ever run from this. */

export interface LogicalLine {
  /** 1-based line where it starts. */
  readonly line: number;
  readonly text: string;
}

/** Joins continued lines; leaves out comments and the bodies of here-documents. */
export function logicalLines(source: string): LogicalLine[] {
  const lines: LogicalLine[] = [];
  let pending = "";
  let start = 1;
  let delimiters: string[] = [];
  source.split(/\r\n|\r|\n/).forEach((raw, index) => {
    if (delimiters.length > 0) {
      if (raw.trim() === delimiters[0]) delimiters = delimiters.slice(1);
      return;
    }
    const trimmed = raw.trim();
    if (trimmed === "" || trimmed.startsWith("#")) return;
    if (pending === "") start = index + 1;
    if (trimmed.endsWith("\\")) {
      pending += `${raw.trimEnd().slice(0, -1)} `;
      return;
    }
    pending += raw;
    const heredocs = pending.matchAll(/"(?:\\.|[^"\\])*"|'[^']*'|<<-?\s*(['"]?)(\w+)\1/g);
    delimiters = [...heredocs].flatMap((match) => (match[2] === undefined ? [] : [match[2]]));
    if (delimiters.length === 0) lines.push({ line: start, text: pending });
    pending = "";
  });
  if (pending !== "") lines.push({ line: start, text: pending });
  return lines;
}

export interface ShellCommand {
  readonly words: readonly string[];
  /** What follows it: `;`, `&&`, `||`, `&`, `|` or nothing. */
  readonly separator: string;
}

/** Simple commands of one line, quotes removed; empty when a quote is left open. */
export function shellCommands(line: string): ShellCommand[] {
  const commands: ShellCommand[] = [];
  let words: string[] = [];
  let rest = line.trimStart();
  while (rest !== "" && !rest.startsWith("#")) {
    const separator = /^[;&|]+/.exec(rest)?.[0];
    if (separator !== undefined) {
      if (words.length > 0) commands.push({ words, separator });
      words = [];
      rest = rest.slice(separator.length).trimStart();
      continue;
    }
    const word = /^(?:[^\s"'\\;&|]|\\[\s\S]|"(?:\\.|[^"\\])*"|'[^']*')+/.exec(rest)?.[0];
    if (word === undefined) return [];
    words.push(unquote(word));
    rest = rest.slice(word.length).trimStart();
  }
  if (words.length > 0) commands.push({ words, separator: "" });
  return commands;
}

/** Words of a line without command separators; null when a quote is left open. */
export function shellWords(line: string): string[] | null {
  const words = line.match(/(?:[^\s"'\\]|\\[\s\S]|"(?:\\.|[^"\\])*"|'[^']*')+/g) ?? [];
  return /["']/.test(line.replace(/\\[\s\S]|"(?:\\.|[^"\\])*"|'[^']*'/g, "")) ? null : words.map(unquote);
}

function unquote(word: string): string {
  return word.replace(/"((?:\\.|[^"\\])*)"|'([^']*)'|\\([\s\S])/g, (_whole, double?: string, single?: string, escaped?: string) => {
    return double?.replace(/\\(["\\$`])/g, "$1") ?? single ?? escaped ?? "";
  });
}
