/**
 * `${name}` in manifest texts. `${json:name}` gives the value as JSON (a quoted text, a list, a table), which is also right inside
 * YAML; `${toml:name}` as TOML, which writes tables differently. Replaced once: a value that itself holds `${…}` arrives as it is.
 */
import { WorkbenchError } from "../errors.ts";

type ManifestValue = string | number | boolean | readonly string[] | Readonly<Record<string, string>>;
export type ManifestValues = Readonly<Record<string, ManifestValue>>;

/** Puts values into a text; an unknown name is a fault of the manifest, said in one sentence. */
export function fillIn(text: string, values: ManifestValues, where: string): string {
  return text.replace(/\$\{(?:(json|toml):)?([A-Za-z][A-Za-z0-9_.-]*)\}/g, (whole, form: string | undefined, name: string) => {
    const value = values[name];
    if (value === undefined) {
      throw new WorkbenchError(
        "harness",
        `${where} uses ${whole}, which is not a value of a manifest.`,
        `Use one of ${Object.keys(values)
          .map((key) => `\${${key}}`)
          .join(", ")}.`,
      );
    }
    if (form === "json") return JSON.stringify(value);
    if (form === "toml") return asToml(value);
    return typeof value === "object" ? JSON.stringify(value) : String(value);
  });
}

/** Texts, numbers and lists are written as in JSON; DEL alone is not allowed in TOML as it is. */
function asToml(value: ManifestValue): string {
  const quoted = (part: unknown): string => JSON.stringify(part).replaceAll("\u007f", "\\u007f");
  if (typeof value !== "object" || isList(value)) return quoted(value);
  const pairs = Object.entries(value).map(([key, text]) => `${quoted(key)} = ${quoted(text)}`);
  return pairs.length === 0 ? "{}" : `{ ${pairs.join(", ")} }`;
}

function isList(value: object): value is readonly string[] {
  return Array.isArray(value);
}
