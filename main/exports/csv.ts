/** Rollouts as a table (RFC 4180): one line each, with outcome, reward, costs and behaviour measures. */
import { behaviourMeasureNames } from "../../engine/behaviour/index.ts";
import type { AnalysedRollout } from "../analysis/index.ts";
import type { RolloutRecord } from "../store/index.ts";
import { writeLines } from "./destination.ts";

type Cell = string | number | boolean | null;

const columns: Readonly<Record<string, (rollout: RolloutRecord) => Cell>> = {
  rollout: ({ id }) => id,
  experiment: ({ experimentId }) => experimentId,
  task: ({ taskName }) => taskName,
  task_digest: ({ taskDigest }) => taskDigest,
  harness: ({ harness }) => harness,
  harness_version: ({ harnessVersion }) => harnessVersion,
  policy: ({ policy }) => policy,
  policy_version: ({ policyVersion }) => policyVersion,
  sandbox: ({ sandbox }) => sandbox,
  group_index: ({ groupIndex }) => groupIndex,
  seed: ({ seed }) => seed,
  status: ({ outcome }) => outcome?.status ?? null,
  cause: ({ outcome }) => outcome?.cause ?? null,
  action: ({ outcome }) => outcome?.action ?? null,
  reward: ({ reward }) => reward,
  rewards: ({ rewards }) => (rewards === null ? null : JSON.stringify(rewards)),
  attempts: ({ attempts }) => attempts,
  chains: ({ chains }) => chains,
  trainable: ({ trainable }) => trainable,
  trainable_reason: ({ trainableReason }) => trainableReason,
  created_at: ({ createdAt }) => new Date(createdAt).toISOString(),
  ended_at: ({ endedAt }) => (endedAt === null ? null : new Date(endedAt).toISOString()),
};

/** Empty cells are missing values, never 0. Resolves with the number of lines after the header. */
export async function writeCsv(rollouts: readonly AnalysedRollout[], path: string): Promise<number> {
  async function* lines(): AsyncGenerator<string> {
    yield line([
      ...Object.keys(columns),
      ...behaviourMeasureNames.map((name) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)),
      "tools",
    ]);
    for (const { rollout, measures } of rollouts) {
      const own = Object.values(columns).map((read) => read(rollout));
      yield line([...own, ...behaviourMeasureNames.map((name) => measures[name]), JSON.stringify(measures.tools)]);
    }
  }
  await writeLines(path, lines());
  return rollouts.length;
}

function line(cells: readonly Cell[]): string {
  return `${cells.map(quoted).join(",")}\r\n`;
}

function quoted(cell: Cell): string {
  const text = cell === null ? "" : String(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
