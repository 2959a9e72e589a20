/** What can leave the workbench, in the words of the dialog. Pure. */
import type { ExportRequest } from "../../service/views.ts";

export type ExportFormat = ExportRequest["format"];

interface Format {
  readonly value: ExportFormat;
  readonly title: string;
  readonly about: string;
  /** Name of what is written, after the id. `many` = of more than one rollout. */
  readonly ending: (many: boolean) => string;
  /** Rows for trainers: which rollouts they are of. */
  readonly rows: "supervised" | "reward" | null;
}

export const formats: readonly Format[] = [
  {
    value: "html",
    title: "Page",
    about: "stands alone in a browser: no scripts, light and dark",
    ending: (many) => (many ? "-pages" : ".html"),
    rows: null,
  },
  { value: "csv", title: "CSV", about: "rollouts as a table: outcome, reward, costs, behaviour", ending: () => ".csv", rows: null },
  { value: "atif", title: "ATIF", about: "trajectories, ATIF 1.8", ending: (many) => (many ? "-atif" : ".json"), rows: null },
  { value: "harbor", title: "Harbor job", about: "a job folder that Harbor reads", ending: () => "-harbor", rows: null },
  { value: "har", title: "HAR", about: "model calls as an HTTP archive, for a browser's network panel", ending: () => ".har", rows: null },
  { value: "trl-sft", title: "TRL, SFT", about: "JSON Lines for its supervised trainer", ending: () => "-trl.jsonl", rows: "supervised" },
  { value: "verl-sft", title: "verl, SFT", about: "parquet for MultiTurnSFTDataset", ending: () => "-sft.parquet", rows: "supervised" },
  { value: "verl-rl", title: "verl, RL", about: "parquet for RLHFDataset, with rewards and advantages", ending: () => "-rl.parquet", rows: "reward" },
  { value: "slime", title: "slime", about: "its samples as JSON Lines, with rewards and advantages", ending: () => "-slime.jsonl", rows: "reward" },
];

export function formatOf(value: ExportFormat): Format {
  const found = formats.find((format) => format.value === value);
  if (found === undefined) throw new Error(`no format ${value}`);
  return found;
}

/** What is exported: its id, what a person calls it, and whether it is one rollout or a training run. */
export interface ExportSubject {
  readonly id: string;
  readonly label: string;
  /** How many rollouts or steps, or what it is to the rest. */
  readonly about: string;
  readonly kind: "experiment" | "rollout" | "run";
}

/** A place in the data folder's own `exports/`. */
export function defaultTarget(dataFolder: string, subject: ExportSubject, format: ExportFormat): string {
  return `${dataFolder}/exports/${targetName(subject, format)}`;
}

export const targetName = (subject: ExportSubject, format: ExportFormat): string =>
  `${subject.id}${formatOf(format).ending(subject.kind !== "rollout")}`;

/** Estimators that give advantages without a value head; `ppo` has one and is not offered. */
export const estimators = ["grpo", "dr-grpo", "rloo", "opo", "dapo", "gspo", "cispo", "reinforce", "reinforce++", "reinforce++-baseline"] as const;
