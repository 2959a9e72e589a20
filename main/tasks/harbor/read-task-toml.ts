/** Reads one `task.toml`: Harbor's verdict on it, the values it keeps, and every fault with its line. */
import type { TaskFault } from "../contract.ts";
import { droppedKeys, droppedKeyWarning, pathText } from "./dropped-keys.ts";
import { type TaskConfig, taskConfigSchema } from "./task-config.ts";
import { readToml, TomlDate, type TomlDocument, TomlSyntaxError } from "./toml-source.ts";

export interface TaskTomlReading {
  /** Null when the file is refused. Only keys that the file sets, normalised. */
  readonly config: TaskConfig | null;
  /** Keys, as `environment.mcp_servers[0].env`, that Harbor drops silently. */
  readonly dropped: readonly string[];
  /** Errors when refused; else a warning for each dropped key. */
  readonly faults: readonly TaskFault[];
  /** Positions, for further checks of values; null when the text is no TOML. */
  readonly document: TomlDocument | null;
}

/** `file` is what faults call the file. */
export function readTaskToml(bytes: Uint8Array, file = "task.toml"): TaskTomlReading {
  let document: TomlDocument;
  try {
    document = readToml(bytes);
  } catch (error) {
    if (!(error instanceof TomlSyntaxError)) throw error;
    return { config: null, dropped: [], faults: [{ file, line: error.line, severity: "error", message: error.message }], document: null };
  }
  const result = taskConfigSchema.safeParse(document.root);
  if (!result.success) {
    const faults = result.error.issues.map((issue): TaskFault => {
      const path = issue.path.map((part) => (typeof part === "number" ? part : String(part)));
      return { file, line: document.lineOf(path), severity: "error", message: `${pathText(path)} ${issue.message}.` };
    });
    return { config: null, dropped: [], faults, document };
  }
  const dropped = droppedKeys(document.root, result.data);
  return { config: result.data, dropped: dropped.map(pathText), faults: dropped.map((path) => droppedKeyWarning(path, document, file)), document };
}

/** The config as plain JSON values: dates as ISO text, large integers as numbers. */
export function plainConfig(value: unknown): unknown {
  if (value instanceof TomlDate) return value.iso;
  if (typeof value === "bigint") return Number(value);
  if (Array.isArray(value)) return value.map(plainConfig);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, plainConfig(entry)]));
}
