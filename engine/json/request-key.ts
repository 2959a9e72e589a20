/** The equality key of a request body: equal exactly for bodies that ask the same. Made for every call, so it is made to be fast. */

/** Nesting beyond this is refused. */
const maxDepth = 1000;

type Paths = readonly (readonly string[])[];
const none: Paths = [];

/**
 * A text that is equal for two parsed JSON bodies exactly when they are equal after sorting keys and dropping `stream`,
 * `stream_options`, cache markers and the fields at `volatilePaths` (keys joined by dots, `*` for any key or index). Not JSON:
 * strings stand in it with their length, unescaped. Throws RangeError for a body nested deeper than 1000.
 */
export function requestKey(body: unknown, volatilePaths: readonly string[] = []): string {
  return valueKey(body, [["stream"], ["stream_options"], ...volatilePaths.map((path) => path.split("."))], 0);
}

function valueKey(value: unknown, paths: Paths, depth: number): string {
  if (typeof value === "string") return `"${value.length}:${value}`;
  if (typeof value !== "object" || value === null) return `#${String(value)}`;
  if (depth > maxDepth) throw new RangeError(`nested deeper than ${maxDepth} levels`);
  if (Array.isArray(value)) return arrayKey(value, paths, depth);
  return objectKey(value as Readonly<Record<string, unknown>>, paths, depth);
}

function arrayKey(items: readonly unknown[], paths: Paths, depth: number): string {
  let text = "[";
  for (let index = 0; index < items.length; index++) {
    const below = paths.length === 0 ? none : descend(paths, String(index));
    if (below !== null) text += valueKey(items[index], below, depth + 1);
  }
  return `${text}]`;
}

function objectKey(object: Readonly<Record<string, unknown>>, paths: Paths, depth: number): string {
  let text = "{";
  for (const key of Object.keys(object).sort()) {
    const value = object[key];
    const below = paths.length === 0 ? none : descend(paths, key);
    if (below !== null && !isCacheMarker(key, value)) text += `${key.length}:${key}${valueKey(value, below, depth + 1)}`;
  }
  return `${text}}`;
}

/** What of the paths lies below a key; null when the key itself is dropped. */
function descend(paths: Paths, key: string): Paths | null {
  let below: (readonly string[])[] | null = null;
  for (const path of paths) {
    if (path[0] !== key && path[0] !== "*") continue;
    if (path.length === 1) return null;
    below ??= [];
    below.push(path.slice(1));
  }
  return below ?? none;
}

/** `cache_control: {"type": "ephemeral", …}`. A tool's parameter of that name has another type and is kept. */
function isCacheMarker(key: string, value: unknown): boolean {
  return key === "cache_control" && (value === null || (typeof value === "object" && "type" in value && value.type === "ephemeral"));
}
