/**
 * `.harborignore` and `.gitignore` lines as Harbor's matcher (Python's pathspec 1.1) reads them. Two flavours differ in edge cases:
 * `git` follows git itself (`.harborignore`), `basic` lets the last matching line decide (`.gitignore` in the digest).
 */
import { pythonStrip } from "../harbor/lax-values.ts";

export type IgnoreFlavour = "git" | "basic";

export interface IgnoreRules {
  /** True = left out, false = kept by a `!` line, null = no line says anything. A folder's path ends with `/`. */
  decide(path: string): boolean | null;
}

export class IgnoreSyntaxError extends Error {
  readonly line: number;
  constructor(message: string, line: number) {
    super(message);
    this.line = line;
  }
}

interface Rule {
  readonly excludes: boolean;
  readonly expression: RegExp;
}

/** Parses the lines of one file; throws IgnoreSyntaxError for a pattern that stops Harbor too. */
export function parseIgnoreRules(text: string, flavour: IgnoreFlavour): IgnoreRules {
  const rules = splitLines(text).flatMap((line, index) => {
    const rule = parseRule(line, flavour, index + 1);
    return rule === null ? [] : [rule];
  });
  const latestFirst = rules.reverse();
  if (flavour === "basic") {
    return { decide: (path) => latestFirst.find((rule) => rule.expression.test(path))?.excludes ?? null };
  }
  return {
    decide(path) {
      // A line that names the path itself beats one that only names a folder above it.
      let byFolder: boolean | null = null;
      for (const rule of latestFirst) {
        const match = rule.expression.exec(path);
        if (match === null) continue;
        if (!match.groups?.folder) return rule.excludes;
        byFolder ??= rule.excludes;
      }
      return byFolder;
    },
  };
}

/** The line ends of Python's `splitlines`. */
function splitLines(text: string): string[] {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are line ends to Python.
  return text.split(/\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/);
}

function parseRule(line: string, flavour: IgnoreFlavour, lineNumber: number): Rule | null {
  const trimmed = line.endsWith("\\ ") ? line : line.replace(/\s+$/, (end) => (pythonStrip(end) === "" ? "" : end));
  if (trimmed === "" || trimmed.startsWith("#") || (flavour === "git" && trimmed === "/")) return null;
  const excludes = !trimmed.startsWith("!");
  const source = excludes ? trimmed : trimmed.slice(1);
  const segments = source.split("/");
  const folderOnly = segments.at(-1) === "" && !(flavour === "basic" && source === "/");
  const expression = expressionOf(normalise(segments, trimmed, lineNumber), folderOnly, flavour, lineNumber);
  return expression === null ? null : { excludes, expression };
}

function normalise(segments: string[], line: string, lineNumber: number): string[] {
  let parts = [...segments];
  if (parts[0] === "") parts.shift();
  else if ((parts.length === 1 || (parts.length === 2 && parts[1] === "")) && parts[0] !== "**") parts.unshift("**");
  if (parts.length === 0) throw new IgnoreSyntaxError(`The pattern ${JSON.stringify(line)} names nothing.`, lineNumber);
  if (parts.at(-1) === "") parts[parts.length - 1] = "**";
  parts = parts.filter((part, index) => part !== "**" || parts[index - 1] !== "**");
  return parts;
}

const folderMark = "(?<folder>/)";
/** Python's `$`: the end, or before a last line feed. */
const end = "(?=\\n?$)";

function expressionOf(segments: readonly string[], folderOnly: boolean, flavour: IgnoreFlavour, lineNumber: number): RegExp | null {
  const folder = flavour === "git" && folderOnly ? folderMark : "/";
  const whole = segments.join("/");
  if (whole === "**") return folderOnly ? new RegExp(folder, "u") : /[^\n]/u;
  if (whole === "**/*") return /[^\n]/u;
  if (whole === "**/*/**") return new RegExp(folder, "u");
  const last = segments.length - 1;
  let source = "";
  let needsSlash = false;
  for (const [index, segment] of segments.entries()) {
    if (segment === "**") {
      if (index === 0) source += "^(?:[^\\n]+/)?";
      else if (index < last) source += "(?:/[^\\n]+)?";
      else source += folder;
      needsSlash ||= index > 0;
      continue;
    }
    if (index === 0) source += "^";
    if (needsSlash) source += "/";
    const glob = segment === "*" ? "[^/]+" : globSource(segment, flavour, lineNumber);
    if (glob === null) return null;
    source += glob;
    if (index === last) {
      if (flavour === "git") source += `(?:${folderMark}|${end})`;
      else source += segment === "*" ? `/?${end}` : `(?:/|${end})`;
    }
    needsSlash = true;
  }
  return new RegExp(source, "u");
}

/** One path segment as a regular expression; null when git drops the line (an unclosed bracket). */
function globSource(segment: string, flavour: IgnoreFlavour, lineNumber: number): string | null {
  const characters = [...segment];
  let source = "";
  let index = 0;
  while (index < characters.length) {
    const character = characters[index] ?? "";
    index += 1;
    if (character === "\\") {
      const next = characters[index];
      if (next === undefined) throw new IgnoreSyntaxError(`The pattern ${JSON.stringify(segment)} ends with a lone backslash.`, lineNumber);
      source += literal(next);
      index += 1;
    } else if (character === "*") source += "[^/]*";
    else if (character === "?") source += "[^/]";
    else if (character === "[") {
      const close = closingBracket(characters, index);
      if (close === null) {
        if (flavour === "git") return null;
        source += "\\[";
      } else {
        source += bracketSource(characters.slice(index, close), lineNumber);
        index = close + 1;
      }
    } else source += literal(character);
  }
  return source;
}

const literal = (character: string) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;

function closingBracket(characters: readonly string[], from: number): number | null {
  let index = from;
  if (characters[index] === "!" || characters[index] === "^") index += 1;
  if (characters[index] === "]") index += 1;
  const close = characters.indexOf("]", index);
  return close < 0 ? null : close;
}

function bracketSource(content: readonly string[], lineNumber: number): string {
  const negated = content[0] === "!" || content[0] === "^";
  const members = negated ? content.slice(1) : content;
  let source = negated ? "[^" : "[";
  let index = 0;
  while (index < members.length) {
    const low = members[index] ?? "";
    const high = members[index + 1] === "-" ? members[index + 2] : undefined;
    if (high === undefined) {
      source += literal(low);
      index += 1;
      continue;
    }
    if ((high.codePointAt(0) ?? 0) < (low.codePointAt(0) ?? 0)) {
      throw new IgnoreSyntaxError(`The range ${low}-${high} runs backwards.`, lineNumber);
    }
    source += `${literal(low)}-${literal(high)}`;
    index += 3;
  }
  return `${source}]`;
}
