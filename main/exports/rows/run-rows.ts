/** Rows of a training run, with the masks and advantages that its updates used. */

import type { ExportParts } from "../contract.ts";
import { giveWay } from "../give-way.ts";
import type { LeftOutList } from "../left-out.ts";
import { chainRows } from "./chain-rows.ts";
import type { TrainingRow } from "./training-row.ts";

export interface RunSource {
  readonly parts: ExportParts;
  readonly run: string;
  readonly leftOut: LeftOutList;
  report(line: string): void;
  readonly signal: AbortSignal;
}

export async function* runRows({ parts, run, leftOut, report, signal }: RunSource): AsyncGenerator<TrainingRow> {
  const { store, training } = parts;
  const points = training.get(run).points;
  for (const { step } of points) {
    for (const made of training.step(run, step).rollouts) {
      await giveWay(signal);
      const record = store.rollout(made.rollout);
      const fault = made.leftOut ?? (record === null ? "its recording was deleted" : null);
      if (fault !== null || record === null) {
        leftOut.add(`${step} ${made.rollout}`, fault ?? "");
        continue;
      }
      let trained = false;
      for (const row of chainRows(store, record, false).rows) {
        const { mask, advantages } = training.stepTokens(run, step, made.rollout, row.chain);
        if (row.tokens === null || !mask.includes(1)) continue;
        trained = true;
        const tokens = { ...row.tokens, mask: Uint8Array.from(mask), advantages: Float64Array.from(advantages, (value) => value ?? 0) };
        yield { ...row, tokens, group: made.group, step };
      }
      if (!trained) leftOut.add(`${step} ${made.rollout}`, "no token was trained");
    }
    report(`step ${step} of ${points.length}`);
  }
}
