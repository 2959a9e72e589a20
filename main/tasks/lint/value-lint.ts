/** Values that Harbor takes without a word and that rarely mean what they say. Each warning has the line of its key. */
import type { TaskFault } from "../contract.ts";
import { describeValue } from "../harbor/lax-values.ts";
import type { TaskConfig } from "../harbor/task-config.ts";
import { isTomlTable, type KeyPath, type TomlDocument, type TomlTable, type TomlValue } from "../harbor/toml-source.ts";
import { hasUnfilledVariable } from "../variables.ts";

type Warn = (path: KeyPath, message: string) => void;

export function lintValues(config: TaskConfig, document: TomlDocument): TaskFault[] {
  const faults: TaskFault[] = [];
  const warn: Warn = (path, message) => faults.push({ file: "task.toml", line: document.lineOf(path), severity: "warning", message });
  const { root } = document;
  lintVersion(root, warn);
  for (const path of environmentPaths(config)) lintOldKeys(at(root, path), path, warn);
  lintNumbers(root, [], warn);
  lintNetwork(config, warn);
  lintEnv(root, [], warn);
  if (config.environment?.os === "windows") warn(["environment", "os"], "environment.os is windows; the workbench runs Linux tasks only.");
  if (config.multi_step_reward_strategy !== undefined && (config.steps ?? []).length === 0) {
    warn(["multi_step_reward_strategy"], "multi_step_reward_strategy says nothing here: the task has no steps.");
  }
  return faults;
}

function at(root: TomlTable, path: KeyPath): TomlTable | null {
  let value: TomlValue | undefined = root;
  for (const part of path) value = Array.isArray(value) ? value[Number(part)] : isTomlTable(value) ? value[part] : undefined;
  return isTomlTable(value) ? value : null;
}

function environmentPaths(config: TaskConfig): KeyPath[] {
  const ofSteps = (config.steps ?? []).map((_step, index): KeyPath => ["steps", index, "verifier", "environment"]);
  return [["environment"], ["verifier", "environment"], ...ofSteps];
}

function lintVersion(root: TomlTable, warn: Warn): void {
  if ("version" in root) {
    const ignored = "schema_version" in root ? "; it is ignored, because schema_version is set too" : "";
    warn(["version"], `version is the old name of schema_version${ignored}.`);
  }
  const version = root.schema_version ?? root.version;
  if (typeof version === "string" && !/^1\.[0-4]$/.test(version))
    warn(["schema_version"], `schema_version ${describeValue(version)} is not one of 1.0 to 1.4; the file is read as 1.4.`);
}

function lintOldKeys(environment: TomlTable | null, path: KeyPath, warn: Warn): void {
  if (environment === null) return;
  const name = path.join(".");
  for (const key of ["memory", "storage"] as const) {
    const value = environment[key];
    if (value === undefined) continue;
    if (typeof value === "string") warn([...path, key], `${name}.${key} is the old form of ${key}_mb.`);
    else warn([...path, key], `${name}.${key} must be a text such as "2G"; ${describeValue(value)} is dropped. Use ${key}_mb.`);
  }
  if (environment.allow_internet === undefined) return;
  const overruled = environment.network_mode !== undefined || environment.allowed_hosts !== undefined;
  warn(
    [...path, "allow_internet"],
    `${name}.allow_internet is the old form of network_mode${overruled ? " and is ignored, because the new form is set too" : ""}.`,
  );
}

const limitKeys = new Set(["timeout_sec", "build_timeout_sec", "cpus", "memory_mb", "storage_mb", "interval_sec", "start_interval_sec", "retries"]);
const countKeys = new Set(["gpus", "start_period_sec"]);

/** Limits that are zero, negative, infinite, or written as text. */
function lintNumbers(value: TomlValue, path: KeyPath, warn: Warn): void {
  if (path[0] === "metadata" || path.at(-1) === "env") return;
  if (Array.isArray(value)) for (const [index, entry] of value.entries()) lintNumbers(entry, [...path, index], warn);
  if (isTomlTable(value)) for (const [key, entry] of Object.entries(value)) lintNumbers(entry, [...path, key], warn);
  const key = String(path.at(-1));
  if (Array.isArray(value) || isTomlTable(value) || !(limitKeys.has(key) || countKeys.has(key))) return;
  const name = path
    .map((part) => (typeof part === "number" ? `[${part}]` : part))
    .join(".")
    .replaceAll(".[", "[");
  if (typeof value === "string" || typeof value === "boolean")
    warn(path, `${name} is ${describeValue(value)}; it is read as a number. Write the number.`);
  const number = Number(typeof value === "string" ? value.trim() : value);
  const tooSmall = limitKeys.has(key) ? !(number > 0) : !(number >= 0);
  if (tooSmall || number === Number.POSITIVE_INFINITY)
    warn(path, `${name} is ${describeValue(value)}, which limits nothing that makes sense; it is left unset here.`);
}

function lintNetwork(config: TaskConfig, warn: Warn): void {
  const { environment, agent, verifier } = config;
  if (environment?.network_mode === undefined && (agent?.network_mode === undefined || verifier?.network_mode === undefined)) {
    warn(["environment"], 'The task names no network mode, which means public; say environment.network_mode = "no-network" if it needs none.');
  }
}

/** `a${VAR}` in an env table arrives as it is written. */
function lintEnv(value: TomlValue, path: KeyPath, warn: Warn): void {
  if (path[0] === "metadata") return;
  if (Array.isArray(value)) for (const [index, entry] of value.entries()) lintEnv(entry, [...path, index], warn);
  if (!isTomlTable(value)) return;
  for (const [key, entry] of Object.entries(value)) {
    if (path.at(-1) !== "env") lintEnv(entry, [...path, key], warn);
    else if (typeof entry === "string" && hasUnfilledVariable(entry)) {
      warn([...path, key], `The variable in env value ${key} is not filled in, because it is only a part of the value.`);
    }
  }
}
