/**
 * The equality key of a request: equal exactly for bodies that ask the same, after sorting keys and dropping `stream`,
 * `stream_options`, cache markers and a harness's volatile fields. The list of messages is keyed item by item, each on top of the
 * ones before it, so that a body that repeats the beginning of an earlier one costs only what is new.
 */
import { hash } from "node:crypto";

/** Nesting beyond this is refused. */
const maxDepth = 1000;

type Paths = readonly (readonly string[])[];
const none: Paths = [];

export interface RequestKeying {
  /** Key of a list that goes on from one of `count` items with the key `start` (`""` for none). One key after each item. Throws RangeError. */
  listKeys(items: readonly unknown[], count: number, start: string): readonly string[];
  /** Key of a whole body. `memberKey` may know the key of a large member already. Throws RangeError for a body nested deeper than 1000. */
  bodyKey(members: Readonly<Record<string, unknown>>, listKey: string, memberKey: (name: string) => string | null): string;
  /** Key of one large member of the body, to be known next time. */
  memberKey(name: string, value: unknown): string;
}

/** `volatilePaths`: keys joined by dots, `*` for any key or index. `list`: the member that holds the messages. */
export function createRequestKeying(list: string, volatilePaths: readonly string[]): RequestKeying {
  const paths = [["stream"], ["stream_options"], ...volatilePaths.map((path) => path.split("."))];
  const pathsInList = descend(paths, list) ?? none;
  const memberKey = (name: string, value: unknown): string => digest(valueText(value, descend(paths, name) ?? none, 0));
  return {
    memberKey,
    listKeys(items, count, start) {
      let key = start;
      return items.map((item, index) => {
        const below = pathsInList.length === 0 ? none : descend(pathsInList, String(count + index));
        key = digest(`${key},${below === null ? "" : valueText(item, below, 1)}`);
        return key;
      });
    },
    bodyKey(members, listKey, known) {
      let text = "";
      for (const name of Object.keys(members).sort()) {
        const value = members[name];
        if (descend(paths, name) === null || isCacheMarker(name, value)) continue;
        const key = name === list && Array.isArray(value) ? listKey : (known(name) ?? valueText(value, descend(paths, name) ?? none, 0));
        text += `${name.length}:${name}${key}`;
      }
      return digest(text);
    },
  };
}

function digest(text: string): string {
  return hash("sha256", text, "hex");
}

/** A text that is equal exactly for equal values. Not JSON: strings stand in it with their length, unescaped, which is much faster. */
function valueText(value: unknown, paths: Paths, depth: number): string {
  if (typeof value === "string") return `"${value.length}:${value}`;
  if (typeof value !== "object" || value === null) return `#${String(value)}`;
  if (depth > maxDepth) throw new RangeError(`it is nested deeper than ${maxDepth} levels`);
  if (Array.isArray(value)) return arrayText(value, paths, depth);
  return objectText(value as Readonly<Record<string, unknown>>, paths, depth);
}

function arrayText(items: readonly unknown[], paths: Paths, depth: number): string {
  let text = "[";
  for (let index = 0; index < items.length; index++) {
    const below = paths.length === 0 ? none : descend(paths, String(index));
    if (below !== null) text += valueText(items[index], below, depth + 1);
  }
  return `${text}]`;
}

function objectText(object: Readonly<Record<string, unknown>>, paths: Paths, depth: number): string {
  let text = "{";
  for (const key of Object.keys(object).sort()) {
    const value = object[key];
    const below = paths.length === 0 ? none : descend(paths, key);
    if (below !== null && !isCacheMarker(key, value)) text += `${key.length}:${key}${valueText(value, below, depth + 1)}`;
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
