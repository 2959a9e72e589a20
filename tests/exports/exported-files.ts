/** Exports of recorded rollouts of every kind, for others' readers to judge. */
import { join } from "node:path";
import type { ExportReport, ExportRequest } from "../../main/api/export-views.ts";
import { exportTo } from "../../main/exports/index.ts";
import { plainTurn, type RecordedStore, recordedStore, type TestRollout } from "../../main/exports/recorded-store.test-data.ts";

const masked = { status: "environment-failure", cause: "out-of-memory", action: "mask", detail: "The box ran out of memory." } as const;
const late = { status: "agent-timeout", cause: null, action: "train", detail: null } as const;

/** Successes and failures, several steps, compaction, no ids, no reward, infrastructure failures, odd characters. */
const rollouts: readonly TestRollout[] = [
  { task: "sort", reward: 1, turns: [plainTurn("ls"), plainTurn("mv a b"), plainTurn(null)] },
  { task: "sort", reward: 0, turns: [plainTurn("ls"), plainTurn(null, 5)] },
  { task: "sort", reward: 1, turns: [plainTurn("ls"), plainTurn("cat a", 2, { compacted: true }), plainTurn(null)] },
  {
    task: "sum",
    reward: 1,
    turns: [plainTurn('printf "据 🙂\\n"', 4, { logprobs: [-1, null, -2, -3] }), plainTurn(null, 1, { text: "Fertig: 据 🙂." })],
  },
  { task: "sum", reward: 0, outcome: late, turns: [plainTurn("sleep 900")] },
  { task: "sum", reward: null, outcome: masked, turns: [plainTurn("ls")] },
  {
    ...{ task: "relay", reward: 0.5, turns: [plainTurn("ls"), plainTurn(null), plainTurn("pwd", 3, { compacted: true }), plainTurn(null)] },
    steps: [
      { name: "first", calls: 2, reward: 0.5 },
      { name: "second", calls: 2, reward: null },
    ],
  },
  { task: "talk", reward: 1, textOnly: true, turns: [plainTurn("ls"), plainTurn(null)] },
];

export interface ExportedFiles extends RecordedStore {
  write(format: ExportRequest["format"], name: string, change?: Partial<ExportRequest>): Promise<ExportReport>;
}

export function exportedFiles(): ExportedFiles {
  const recorded = recordedStore(rollouts);
  const none = () => {
    throw new Error("there is no training run");
  };
  const parts = { store: recorded.store, training: { list: () => [], get: none, step: none, stepTokens: none }, version: "test" };
  return {
    ...recorded,
    write: (format, name, change = {}) =>
      exportTo(
        parts,
        { id: recorded.experimentId, format, path: join(recorded.folder, name), force: true, algorithm: "grpo", all: true, ...change },
        () => undefined,
        new AbortController().signal,
      ),
  };
}
