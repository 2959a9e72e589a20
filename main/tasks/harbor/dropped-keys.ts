/** Keys that a file sets and Harbor drops without a word. */
import type { TaskFault } from "../contract.ts";
import type { TaskConfig } from "./task-config.ts";
import { isTomlTable, type KeyPath, type TomlDocument, type TomlValue } from "./toml-source.ts";

/** Old forms that Harbor reads into newer keys: gone from the result, not dropped. */
const migrated = new Set([
  "version",
  "environment.memory",
  "environment.storage",
  "environment.allow_internet",
  "verifier.environment.memory",
  "verifier.environment.storage",
  "verifier.environment.allow_internet",
]);

/** `environment.mcp_servers[0].env` */
export function pathText(path: KeyPath): string {
  return path.reduce<string>((text, part) => (typeof part === "number" ? `${text}[${part}]` : text === "" ? part : `${text}.${part}`), "");
}

/** Paths of dropped keys in the order of the file. Empty tables and arrays lose nothing and are left out. */
export function droppedKeys(root: TomlValue, config: TaskConfig): KeyPath[] {
  return collect(root, config, []).filter((path) => !migrated.has(pathText(path)));
}

function collect(given: TomlValue, kept: unknown, at: KeyPath): KeyPath[] {
  if (isTomlTable(given) && isRecord(kept)) {
    return Object.entries(given).flatMap(([key, value]) => {
      if (Object.hasOwn(kept, key)) return collect(value, kept[key], [...at, key]);
      return isEmpty(value) ? [] : [[...at, key]];
    });
  }
  if (Array.isArray(given) && Array.isArray(kept) && given.length === kept.length) {
    return given.flatMap((value, index) => collect(value, kept[index], [...at, index]));
  }
  return [];
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);
const isEmpty = (value: TomlValue) => (Array.isArray(value) ? value.length === 0 : isTomlTable(value) && Object.keys(value).length === 0);

const knownKeys: readonly (readonly [table: RegExp, keys: string])[] = [
  [/^$/, "schema_version source multi_step_reward_strategy artifacts task metadata agent verifier solution environment steps"],
  [/^task$/, "name version description authors keywords"],
  [/^task\.authors\[\d+\]$/, "name email"],
  [/(^|\.)agent$/, "timeout_sec user network_mode allowed_hosts"],
  [/(^|\.)verifier$/, "timeout_sec env user network_mode allowed_hosts environment_mode environment collect"],
  [/\.collect\[\d+\]$/, "command service timeout_sec user"],
  [/^solution$/, "env"],
  [
    /(^|\.)environment$/,
    "build_timeout_sec docker_image os cpus memory_mb storage_mb gpus gpu_types tpu network_mode allowed_hosts env skills_dir workdir mcp_servers healthcheck",
  ],
  [/\.mcp_servers\[\d+\]$/, "name transport url command args headers"],
  [/\.healthcheck$/, "command interval_sec timeout_sec start_period_sec start_interval_sec retries"],
  [/\.tpu$/, "type topology"],
  [/(^|\.)artifacts\[\d+\]$/, "source destination exclude service"],
  [/^steps\[\d+\]$/, "name agent verifier min_reward healthcheck artifacts"],
];

export function droppedKeyWarning(path: KeyPath, document: TomlDocument, file: string): TaskFault {
  const key = String(path.at(-1));
  const table = pathText(path.slice(0, -1));
  const candidates = knownKeys.find(([pattern]) => pattern.test(table))?.[1].split(" ") ?? [];
  const near = closest(key, candidates);
  const hint = near === null ? "remove it, or keep it under [metadata]" : `did you mean ${near}?`;
  const line = document.lineOf(path);
  return {
    file,
    line,
    severity: "warning",
    message: `${pathText(path)} is no key that Harbor knows and is dropped; ${hint}${near === null ? "." : ""}`,
  };
}

/** The candidate with the fewest edits, when these are at most a third of its length. */
export function closest(key: string, candidates: readonly string[]): string | null {
  let best: { readonly word: string; readonly edits: number } | null = null;
  for (const word of candidates) {
    const edits = editDistance(key, word);
    if (edits <= Math.max(1, Math.floor(word.length / 3)) && (best === null || edits < best.edits)) best = { word, edits };
  }
  return best?.word ?? null;
}

function editDistance(left: string, right: string): number {
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const substitute = (previous[column - 1] ?? 0) + (left[row - 1] === right[column - 1] ? 0 : 1);
      current.push(Math.min(substitute, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[right.length] ?? 0;
}
