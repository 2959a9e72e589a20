/** A compose file as plain values with their lines, its variables filled in. */
import { isScalar, LineCounter, parseDocument, visit } from "yaml";
import { interpolate, type Lookup } from "./interpolate.ts";

export interface ComposeProblem {
  readonly line: number;
  readonly message: string;
}

export type Path = readonly (string | number)[];

export interface ComposeSource {
  readonly value: unknown;
  /** 1-based; of the nearest enclosing value that is written in the file. */
  lineOf(path: Path): number;
  /** Something below this path depends on a variable that is not known. */
  isUncertain(path: Path): boolean;
  readonly problems: readonly ComposeProblem[];
}

/** `complete`: `lookup` knows all variables there will be; else what depends on others is not certain. */
export function readComposeSource(text: string, lookup: Lookup, complete: boolean): ComposeSource {
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter, merge: true });
  // What follows the first is mostly its consequence.
  const problems = document.errors.slice(0, 1).map((error) => ({
    line: counter.linePos(error.pos[0]).line,
    message: `This is not valid YAML: ${error.message.split("\n")[0]}`,
  }));
  const uncertain = new Set<number>();
  visit(document, {
    Scalar(key, node) {
      if (key === "key") return;
      const line = counter.linePos(node.range?.[0] ?? 0).line;
      // A number keeps the form in which it was written: 1.10 is no 1.1 where it is a text.
      if (typeof node.value === "number" && node.source !== undefined) node.value = node.source;
      if (typeof node.value !== "string") return;
      const filled = interpolate(node.value, lookup);
      node.value = filled.text;
      if (!complete && (filled.unset.length > 0 || filled.complaint !== null)) uncertain.add(node.range?.[0] ?? 0);
      else if (filled.complaint !== null) problems.push({ line, message: filled.complaint });
    },
  });
  const nodeAt = (path: Path): unknown => document.getIn(path, true);
  const lineOf = (path: Path): number => {
    const node = nodeAt(path);
    const range = typeof node === "object" && node !== null && "range" in node && Array.isArray(node.range) ? (node.range as number[]) : null;
    if (range !== null) return counter.linePos(range[0] ?? 0).line;
    return path.length === 0 ? 1 : lineOf(path.slice(0, -1));
  };
  const isUncertain = (path: Path): boolean => {
    const node = nodeAt(path);
    if (isScalar(node)) return uncertain.has(node.range?.[0] ?? 0);
    if (typeof node !== "object" || node === null || !("range" in node) || !Array.isArray(node.range)) return false;
    const [from = 0, to = 0] = node.range as number[];
    return [...uncertain].some((at) => at >= from && at < to);
  };
  return { value: problems.length > 0 ? null : document.toJS(), lineOf, isUncertain, problems };
}
