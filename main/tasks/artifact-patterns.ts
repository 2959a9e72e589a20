/** Names that an artifact leaves out of its folder, as `tar --exclude` reads them: Harbor packs artifacts by it. */

/**
 * Whether one of the patterns leaves out `path` (relative to the artifact's folder). A pattern may match at any folder's start, takes with
 * a folder all that it holds, and its `*` and `?` match slashes too.
 */
export function leavesOut(patterns: readonly string[], path: string): boolean {
  if (patterns.length === 0) return false;
  const parts = [".", ...path.split("/")];
  const candidates = parts.flatMap((_part, start) => parts.slice(start).map((_last, length) => parts.slice(start, start + length + 1).join("/")));
  return patterns.some((pattern) => {
    const expression = regexOf(pattern);
    return candidates.some((candidate) => candidate !== "." && expression.test(candidate));
  });
}

function regexOf(pattern: string): RegExp {
  const source = pattern.replaceAll(/\\(.)|\[(!|\^)?(\]?[^\]]*)\]|[*?]|[.+^${}()|\]/[]/gs, (whole, escaped?: string, not?: string, set?: string) => {
    if (escaped !== undefined) return escapeLiteral(escaped);
    if (set !== undefined) return `[${not === undefined ? "" : "^"}${set.replaceAll(/[\\\]^]/g, "\\$&")}]`;
    return whole === "*" ? ".*" : whole === "?" ? "." : `\\${whole}`;
  });
  return new RegExp(`^${source}$`, "su");
}

const escapeLiteral = (character: string): string => (/[.*+?^${}()|[\]\\/]/.test(character) ? `\\${character}` : character);
