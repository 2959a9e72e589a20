/** Sizes, times, command lines and files of variables as compose writes them. */

const sizeUnits: Readonly<Record<string, number>> = { "": 1, b: 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3, t: 1024 ** 4 };

/** `512m`, `1gb`, `64MiB`; null when it is no size. */
export function bytesOf(text: string): number | null {
  const [, number, unit = ""] = /^(\d+(?:\.\d+)?)\s*([bkmgt]?)(?:i?b)?$/i.exec(text.trim()) ?? [];
  if (number === undefined) return null;
  const size = Math.floor(Number(number) * (sizeUnits[unit.toLowerCase()] ?? 1));
  return Number.isSafeInteger(size) ? size : null;
}

const timeUnits: Readonly<Record<string, number>> = { us: 0.001, ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** `1m30s`, `500ms`; a number alone is refused, as compose does, but for 0. */
export function millisecondsOf(text: string): number | null {
  if (text.trim() === "0") return 0;
  const parts = [...text.trim().matchAll(/(\d+(?:\.\d+)?)(us|ms|s|m|h)/g)];
  if (parts.length === 0 || parts.map(([part]) => part).join("") !== text.trim()) return null;
  return parts.reduce((sum, [, number, unit]) => sum + Number(number) * (timeUnits[unit ?? ""] ?? 0), 0);
}

/** A command line cut into words as a shell would, without filling anything in; null when a quote is not closed. */
export function shellWords(line: string): string[] | null {
  const words: string[] = [];
  let word: string | null = null;
  for (let at = 0; at < line.length; at += 1) {
    const sign = line[at] ?? "";
    if (/\s/.test(sign)) {
      if (word !== null) words.push(word);
      word = null;
    } else if (sign === "'" || sign === '"') {
      let end = at + 1;
      let quoted = "";
      for (; end < line.length && line[end] !== sign; end += 1) {
        if (sign === '"' && line[end] === "\\" && /["\\$`]/.test(line[end + 1] ?? "")) end += 1;
        quoted += line[end];
      }
      if (end >= line.length) return null;
      word = (word ?? "") + quoted;
      at = end;
    } else if (sign === "\\") {
      at += 1;
      word = (word ?? "") + (line[at] ?? "");
    } else word = (word ?? "") + sign;
  }
  return word === null ? words : [...words, word];
}

/** Lines `NAME=value`; comments are left out, quotes around a value taken off. */
export function variablesOf(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    text.split(/\r?\n/).flatMap((line): [string, string][] => {
      const [, name, value = ""] = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_.-]*)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
      if (name === undefined) return [];
      const [, , quoted] = /^(["'])(.*)\1$/.exec(value) ?? [];
      return [[name, quoted ?? value.replace(/\s+#.*$/, "")]];
    }),
  );
}
