/** `[metadata.openforge]`: what the workbench knows of a task beyond Harbor. Wrong or unknown keys are warned of and ignored. */
import { z } from "zod";
import type { TaskFault } from "./contract.ts";
import { closest } from "./harbor/dropped-keys.ts";
import { describeValue } from "./harbor/lax-values.ts";
import { isTomlTable, type TomlDocument, type TomlTable } from "./harbor/toml-source.ts";

const strings = z.array(z.string());
const schema = z.object({
  family: z.string(),
  split: z.string(),
  difficulty: z.string(),
  allowed_tools: strings,
  required_tools: strings,
  milestones: z.array(z.strictObject({ name: z.string(), check: z.string() })),
  initial_state: z.strictObject({ files: z.string().optional(), database: z.string().optional(), page: z.string().optional() }),
  cleanup: z.string(),
  secrets: z.array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/)),
  provenance: z.strictObject({ source: z.string().optional(), proposer: z.string().optional(), parents: strings.optional() }),
  reward_key: z.string().min(1),
  max_reward: z.number().positive(),
  verifier_cwd: z.enum(["tests", "workdir"]),
  runs_unisolated: z.boolean(),
});

type Known = z.infer<typeof schema>;
export type OpenforgeMetadata = { readonly [Key in keyof Known]?: Known[Key] | undefined };

/** What a key takes, in words. */
const wanted: Readonly<Record<keyof Known, string>> = {
  family: "a text",
  split: "a text, as in train or test",
  difficulty: "a text, as in easy",
  allowed_tools: "an array of tool names",
  required_tools: "an array of tool names",
  milestones: "an array of tables with the texts name and check",
  initial_state: "a table with the texts files, database or page",
  cleanup: "a text, the command that cleans up",
  secrets: "an array of environment variable names",
  provenance: "a table with source, proposer and parents",
  reward_key: "the name of a reward",
  max_reward: "a number above 0",
  verifier_cwd: "tests or workdir",
  runs_unisolated: "true or false",
};

const known = Object.keys(wanted) as (keyof Known)[];

export function readOpenforgeMetadata(
  metadata: TomlTable | undefined,
  document: TomlDocument,
): { readonly metadata: OpenforgeMetadata; readonly faults: readonly TaskFault[] } {
  const table = metadata?.openforge;
  if (table === undefined) return { metadata: {}, faults: [] };
  const warn = (path: string[], message: string): TaskFault => {
    const full = ["metadata", "openforge", ...path];
    return { file: "task.toml", line: document.lineOf(full), severity: "warning", message: `${full.join(".")} ${message}` };
  };
  if (!isTomlTable(table)) return { metadata: {}, faults: [warn([], `must be a table, not ${describeValue(table)}; it is ignored.`)] };
  const faults: TaskFault[] = [];
  const kept: TomlTable = {};
  for (const [key, value] of Object.entries(table)) {
    const name = known.find((candidate) => candidate === key);
    if (name === undefined) {
      const near = closest(key, known);
      faults.push(
        warn([key], near === null ? "is no key that the workbench knows; it is ignored." : `is unknown and ignored; did you mean ${near}?`),
      );
    } else if (schema.shape[name].safeParse(value).success) kept[key] = value;
    else faults.push(warn([key], `must be ${wanted[name]}, not ${describeValue(value)}; it is ignored.`));
  }
  return { metadata: schema.partial().parse(kept), faults };
}
