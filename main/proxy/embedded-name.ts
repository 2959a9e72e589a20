/** `embedded:FOLDER` or `embedded:NAME`, with settings behind a question mark: `embedded:smollm2?maxTokens=256&lanes=4`. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { WorkbenchError } from "../errors.ts";
import { firstIssue } from "./dialects/zod-issue.ts";
import { type EmbeddedDefinition, embeddedDefinitionSchema } from "./upstreams/definition.ts";

const prefix = "embedded:";

export function isEmbedded(name: string): boolean {
  return name.startsWith(prefix);
}

/** Throws WorkbenchError when there is no such model, or no such setting. */
export function embeddedDefinition(name: string, modelsFolder: string | null): EmbeddedDefinition {
  const [given = "", settings = ""] = name.slice(prefix.length).split("?", 2);
  const imported = modelsFolder === null || given.includes("/") ? null : join(modelsFolder, given);
  const folder = imported !== null && existsSync(imported) ? imported : resolve(given);
  if (given === "" || !existsSync(join(folder, "config.json"))) {
    throw new WorkbenchError(
      "not-found",
      `There is no model in ${folder}.`,
      "Name a Hugging Face folder, or import a file first: openforge policy import PATH.",
    );
  }
  const values = [...new URLSearchParams(settings)].map(([key, value]) => [
    key,
    value === "true" || value === "false" ? value === "true" : Number(value),
  ]);
  // The name stays that of the model: settings do not make another policy.
  const parsed = embeddedDefinitionSchema.safeParse({ kind: "embedded", id: idOf(given), folder, ...Object.fromEntries(values) });
  if (parsed.success) return parsed.data;
  throw new WorkbenchError(
    "usage",
    `The settings of ${name} cannot be read: ${firstIssue(parsed.error)}.`,
    "Known: lanes, contextWindow, maxTokens, deterministic, temperature.",
  );
}

/** The last part of a path, in the letters that an id may have. */
function idOf(given: string): string {
  const last =
    given
      .split(/[\\/]/)
      .filter((part) => part !== "")
      .at(-1) ?? "model";
  return last.replace(/[^\w.-]/g, "-").replace(/^[^a-z0-9]+/i, "") || "model";
}
