/** Rows of a real training run: token for token the masks and advantages that its updates used, in every format. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parquetReadObjects } from "hyparquet";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import type { ExportRequest } from "../../main/api/export-views.ts";
import { bootWorkbench, type Workbench } from "../../main/boot.ts";
import { exportTo } from "../../main/exports/index.ts";
import { sandboxProviders } from "../../main/sandboxes/index.ts";

const { ready, detail } = await sandboxProviders({ stateFolder: join(tmpdir(), "of-probe") }).local.probe();
const folder = mkdtempSync(join(tmpdir(), "of-training-export-"));
let workbench: Workbench;
let run = "";
beforeAll(async () => {
  workbench = await bootWorkbench({ dataFolder: join(folder, "data") });
});
afterAll(async () => {
  await workbench.close();
  rmSync(folder, { recursive: true, force: true });
});

const file = `
name: exported
base: starter
train: weights
concurrency: 8
deterministic: true
limits: { contextWindow: 256, answerTokens: 48, batchTokens: 2048, lanes: 8 }
tasks: { train: { starter: { count: 6 } } }
stages: [{ kind: rl, algorithm: grpo, overrides: { divergence: 0, aggregation: token-mean }, flatGroups: drop, rate: 1e-3, steps: 2, tasks: 3, group: 8 }]
`;

const numbers = z.array(z.union([z.number(), z.bigint()]).transform(Number));
const index = z.union([z.number(), z.bigint()]).transform(Number);
const origin = z.object({ rollout: z.string(), chain: index, step: index });

interface Row {
  readonly rollout: string;
  readonly chain: number;
  readonly step: number;
  readonly mask: readonly number[];
  readonly advantages: readonly number[];
}
const padded = (before: number, values: readonly number[]): readonly number[] => [...Array.from({ length: before }, () => 0), ...values];

const readers: Readonly<Record<string, (path: string) => Promise<readonly Row[]>>> = {
  slime: async (path) =>
    lines(path).map((line) => {
      const row = z
        .object({ tokens: numbers, response_length: z.number(), loss_mask: numbers, metadata: origin.extend({ advantages: numbers }) })
        .parse(line);
      const before = row.tokens.length - row.response_length;
      return { ...row.metadata, mask: padded(before, row.loss_mask), advantages: padded(before, row.metadata.advantages) };
    }),
  "trl-sft": async (path) =>
    lines(path).map((line) => {
      const row = z.object({ assistant_masks: numbers, advantages: numbers, origin }).parse(line);
      return { ...row.origin, mask: row.assistant_masks, advantages: row.advantages };
    }),
  "verl-sft": async (path) =>
    (await parquet(path)).map((line) => {
      const row = z.object({ loss_mask: numbers, advantages: numbers, origin }).parse(line);
      return { ...row.origin, mask: row.loss_mask, advantages: row.advantages };
    }),
  "verl-rl": async (path) =>
    (await parquet(path)).map((line) => {
      const row = z.object({ prompt_ids: numbers, response_mask: numbers, advantages: numbers, extra_info: origin }).parse(line);
      const before = row.prompt_ids.length;
      return { ...row.extra_info, mask: padded(before, row.response_mask), advantages: padded(before, row.advantages) };
    }),
};

describe.skipIf(!ready)(`exports of a training run${ready ? "" : ` (skipped: ${detail})`}`, () => {
  beforeAll(async () => {
    run = await workbench.training.start({ yaml: file, folder: resolve("resources") });
    await workbench.training.follow(run, () => undefined, new AbortController().signal);
  }, 120_000);

  test.each(["slime", "trl-sft", "verl-sft", "verl-rl"] as const)("%s", async (format: ExportRequest["format"]) => {
    const { training } = workbench;
    const request: ExportRequest = { id: run, format, path: join(folder, format), force: false, algorithm: "grpo", all: false };
    const report = await exportTo(workbench, request, () => undefined, new AbortController().signal);
    const rows = (await readers[format]?.(request.path)) ?? [];
    expect(rows).toHaveLength(report.count);
    const members = training.get(run).points.flatMap(({ step }) => training.step(run, step).rollouts.map((member) => ({ ...member, step })));
    const used = members.filter(({ leftOut }) => leftOut === null);
    expect(used.length).toBeGreaterThan(0);
    expect(new Set(rows.map(({ rollout, step }) => `${step} ${rollout}`))).toEqual(new Set(used.map(({ rollout, step }) => `${step} ${rollout}`)));
    expect(report.leftOut.reduce((sum, { count }) => sum + count, 0)).toBe(members.length - used.length);
    for (const row of rows) {
      const { mask, advantages } = training.stepTokens(run, row.step, row.rollout, row.chain);
      expect(row.mask).toEqual(mask);
      expect(row.advantages).toEqual(advantages.map((value) => value ?? 0));
    }
    const trained = rows.reduce((sum, { mask }) => sum + mask.filter((bit) => bit === 1).length, 0);
    expect(trained).toBe(used.reduce((sum, { trainedTokens }) => sum + trainedTokens, 0));
  });
});

function lines(path: string): readonly unknown[] {
  return readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

async function parquet(path: string): Promise<readonly unknown[]> {
  const bytes = readFileSync(path);
  return parquetReadObjects({ file: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) });
}
