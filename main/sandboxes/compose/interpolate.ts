/**
 * Variables in the values of a compose file: `${VAR}`, `${VAR:-default}` and their like, and `$$` for a dollar sign. `$VAR` without braces is
 * filled in when there is such a variable; any other dollar sign arrives as it is, so that `$2b$12$Pg8A` stays a password's hash.
 */

export type Lookup = (name: string) => string | undefined;

interface Interpolated {
  readonly text: string;
  /** Variables that are not set and have no default: nothing stands in their place. */
  readonly unset: readonly string[];
  /** What a `${VAR:?complaint}` says. */
  readonly complaint: string | null;
}

const variable = /^[A-Za-z_][A-Za-z0-9_]*/;

export function interpolate(source: string, lookup: Lookup): Interpolated {
  const unset: string[] = [];
  let complaint: string | null = null;

  function fill(text: string): string {
    let filled = "";
    for (let at = 0; at < text.length; ) {
      const dollar = text.indexOf("$", at);
      if (dollar < 0) return filled + text.slice(at);
      filled += text.slice(at, dollar);
      const end = text[dollar + 1] === "{" ? closing(text, dollar + 2) : -1;
      if (text[dollar + 1] === "$") {
        filled += "$";
        at = dollar + 2;
      } else if (end >= 0) {
        filled += braced(text.slice(dollar + 2, end)) ?? text.slice(dollar, end + 1);
        at = end + 1;
      } else {
        const name = variable.exec(text.slice(dollar + 1))?.[0] ?? "";
        const value = name === "" ? undefined : lookup(name);
        filled += value ?? `$${name}`;
        at = dollar + 1 + name.length;
      }
    }
    return filled;
  }

  /** Null when it is no variable at all. */
  function braced(inner: string): string | null {
    const name = variable.exec(inner)?.[0];
    const [, operator, rest = ""] = /^(:?[-?+]|$)([\s\S]*)$/.exec(inner.slice(name?.length ?? 0)) ?? [];
    if (name === undefined || operator === undefined) return null;
    const value = lookup(name);
    const present = value !== undefined && (value !== "" || !operator.startsWith(":"));
    if (operator.endsWith("+")) return present ? fill(rest) : "";
    if (present) return value ?? "";
    if (operator.endsWith("-")) return fill(rest);
    if (operator.endsWith("?")) complaint ??= `${name} must be set${rest === "" ? "" : `: ${fill(rest)}`}`;
    else if (value === undefined) unset.push(name);
    return "";
  }

  return { text: fill(source), unset, complaint };
}

/** Where the brace that was opened closes, or -1. */
function closing(text: string, from: number): number {
  let depth = 1;
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === "{" && text[at - 1] === "$") depth += 1;
    if (text[at] === "}") depth -= 1;
    if (depth === 0) return at;
  }
  return -1;
}
