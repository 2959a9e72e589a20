/**
 * `${name}` in manifest texts. `${json:name}` gives the value as JSON (a quoted text, a list, a table), which is also right
 * inside TOML and YAML. Replaced once: a value that itself holds `${…}` arrives as it is.
 */
import { WorkbenchError } from "../errors.ts";

type ManifestValue = string | number | boolean | readonly string[] | Readonly<Record<string, string>>;
export type ManifestValues = Readonly<Record<string, ManifestValue>>;

/** Puts values into a text; an unknown name is a fault of the manifest, said in one sentence. */
export function fillIn(text: string, values: ManifestValues, where: string): string {
  return text.replace(/\$\{(json:)?([A-Za-z][A-Za-z0-9_.-]*)\}/g, (whole, asJson: string | undefined, name: string) => {
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
    if (asJson !== undefined) return JSON.stringify(value);
    return typeof value === "object" ? JSON.stringify(value) : String(value);
  });
}
