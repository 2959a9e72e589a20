import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { parquetReadObjects } from "hyparquet";
import { afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import type { Matrix } from "../../engine/algorithms/index.ts";
import { type Algorithm, namedAlgorithms, prepareExperience } from "../../engine/training/index.ts";
import type { ExportRequest } from "../api/export-views.ts";
import { rebuildTrajectories } from "../trajectories/index.ts";
import { exportTo } from "./index.ts";
import { plainTurn, type RecordedStore, recordedStore, type TestRollout, type TestTurn } from "./recorded-store.test-data.ts";

let recorded: RecordedStore | null = null;
afterEach(() => {
  recorded?.dispose();
  recorded = null;
});

const noRuns = {
  list: () => [],
  get: () => {
    throw new Error("no run");
  },
  step: () => {
    throw new Error("no run");
  },
  stepTokens: () => {
    throw new Error("no run");
  },
};

function write(source: RecordedStore, format: ExportRequest["format"], change: Partial<ExportRequest> = {}) {
  const path = join(source.folder, `out.${format}`);
  const request = { id: source.experimentId, format, path, force: true, algorithm: "grpo", all: true, ...change };
  return exportTo({ store: source.store, training: noRuns, version: "test" }, request, () => undefined, new AbortController().signal);
}

function jsonLines(path: string): unknown[] {
  return readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

async function parquetRows(path: string): Promise<Record<string, unknown>[]> {
  const bytes = readFileSync(path);
  return parquetReadObjects({ file: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) });
}

const numbers = z.array(z.union([z.number(), z.bigint().transform(Number)]));
const trlRow = z.object({
  input_ids: numbers,
  assistant_masks: numbers,
  advantages: numbers,
  reward: z.number(),
  origin: z.object({ rollout: z.string(), chain: z.number() }),
});
const slimeRow = z.object({
  group_index: z.number(),
  rollout_id: z.string(),
  tokens: numbers,
  response_length: z.number(),
  loss_mask: numbers,
  rollout_log_probs: numbers,
  metadata: z.object({ chain: z.number(), advantages: numbers }),
});
const verlRlRow = z.object({
  prompt_ids: numbers,
  response_ids: numbers,
  response_mask: numbers,
  advantages: numbers,
  extra_info: z.object({ rollout: z.string(), chain: z.bigint() }),
});
const verlSftRow = z.object({
  input_ids: numbers,
  loss_mask: numbers,
  advantages: numbers,
  origin: z.object({ rollout: z.string(), chain: z.bigint() }),
});

interface PlainRow {
  readonly key: string;
  readonly ids: readonly number[];
  readonly mask: readonly number[];
  readonly advantages: readonly number[];
}

/** What the trainer makes of the same rollouts: one experience of a group, straight from the reconstruction. */
function expectedRows({ store, experimentId }: RecordedStore, algorithm: Algorithm): readonly PlainRow[] {
  const usable = store.rolloutsOf(experimentId).filter(({ reward, outcome }) => reward !== null && outcome?.action === "train");
  const groups = [...new Set(usable.map(({ taskDigest }) => taskDigest))];
  return groups.flatMap((group) => {
    const members = usable
      .filter(({ taskDigest }) => taskDigest === group)
      .map((rollout) => ({ rollout, trajectories: rebuildTrajectories(store, rollout.id) }));
    const kept = members.filter(({ trajectories }) => trajectories.trainedTokens > 0);
    const chains = kept.flatMap(({ rollout, trajectories }, index) =>
      trajectories.chains
        .filter(({ trained }) => trained > 0)
        .map(({ number }) => ({ rollout, number, index, tokens: trajectories.tokensOf(number) })),
    );
    if (chains.length === 0) return [];
    const width = Math.max(...chains.map(({ tokens }) => tokens.ids.length - 1));
    const matrix = (read: (at: number, row: number) => number): Matrix => ({
      ...{ rows: chains.length, width },
      values: Float64Array.from({ length: chains.length * width }, (_, at) => read((at % width) + 1, Math.floor(at / width))),
    });
    const prepared = prepareExperience(
      {
        rollouts: kept.map(({ rollout, trajectories }) => ({
          reward: rollout.reward ?? 0,
          group,
          length: Math.max(...trajectories.chains.map(({ tokens }) => tokens)),
        })),
        rolloutOfRow: chains.map(({ index }) => index),
        mask: matrix((at, row) => chains[row]?.tokens.mask[at] ?? 0),
        old: matrix((at, row) => chains[row]?.tokens.logprobs[at] ?? Number.NaN),
        ...{ sampler: null, reference: null, values: null },
      },
      algorithm,
      0,
    );
    return chains.map(({ rollout, number, tokens }, row) => {
      const part = (values: Float64Array) => [0, ...values.subarray(row * width, row * width + tokens.ids.length - 1)];
      return { key: `${rollout.id} ${number}`, ids: [...tokens.ids], mask: part(prepared.mask.values), advantages: part(prepared.advantages.values) };
    });
  });
}

const turn: fc.Arbitrary<TestTurn> = fc
  .record({
    command: fc.option(fc.constantFrom("ls", "cat a", "echo x > a")),
    sampled: fc.array(
      fc.record({ id: fc.integer({ min: 60, max: 90 }), logprob: fc.option(fc.double({ min: -9, max: 0, noNaN: true }), { freq: 9 }) }),
      { minLength: 1, maxLength: 5 },
    ),
    between: fc.array(fc.integer({ min: 10, max: 20 }), { minLength: 1, maxLength: 3 }),
    compacted: fc.boolean(),
  })
  .map(({ command, sampled, between, compacted }) =>
    plainTurn(command, 0, { sampled: sampled.map(({ id }) => id), logprobs: sampled.map(({ logprob }) => logprob), between, compacted }),
  );
const rollout: fc.Arbitrary<TestRollout> = fc.record({
  task: fc.constantFrom("a", "b"),
  reward: fc.option(fc.constantFrom(0, 0.25, 1), { freq: 8 }),
  turns: fc.array(turn, { minLength: 1, maxLength: 4 }),
});

describe("rows of an experiment", () => {
  test.each(["grpo", "dr-grpo", "rloo", "opo"] as const)("carry the masks and advantages that %s prepares", async (name) => {
    await fc.assert(
      fc.asyncProperty(fc.array(rollout, { minLength: 1, maxLength: 6 }), async (rollouts) => {
        const source = recordedStore(rollouts);
        try {
          const expected = expectedRows(source, namedAlgorithms[name]);
          const same = (rows: readonly PlainRow[]) => expect(sorted(rows)).toEqual(sorted(expected));
          if (expected.length === 0) {
            await expect(write(source, "slime", { algorithm: name })).rejects.toThrow(/nothing to train/);
            return;
          }
          await write(source, "slime", { algorithm: name });
          same(jsonLines(join(source.folder, "out.slime")).map((row) => fromSlime(slimeRow.parse(row))));
          const { count, leftOut } = await write(source, "verl-rl", { algorithm: name });
          same((await parquetRows(join(source.folder, "out.verl-rl"))).map((row) => fromVerlRl(verlRlRow.parse(row))));
          expect(count).toBe(expected.length);
          const taking = new Set(expected.map(({ key }) => key.split(" ")[0]));
          expect(leftOut.reduce((sum, left) => sum + left.count, 0) + taking.size).toBe(rollouts.length);
          // Without a reward a rollout has rows for supervised training, and no advantages.
          if (rollouts.some(({ reward }) => reward === null)) return;
          await write(source, "trl-sft", { algorithm: name });
          same(jsonLines(join(source.folder, "out.trl-sft")).map((row) => fromTrl(trlRow.parse(row))));
          await write(source, "verl-sft", { algorithm: name });
          same((await parquetRows(join(source.folder, "out.verl-sft"))).map((row) => fromVerlSft(verlSftRow.parse(row))));
        } finally {
          source.dispose();
        }
      }),
      { numRuns: 12 },
    );
  });

  test("say what was left out and why", async () => {
    const masked = { status: "environment-failure", cause: "image-pull", action: "mask", detail: null } as const;
    recorded = recordedStore([
      { task: "a", reward: 1, turns: [plainTurn("ls"), plainTurn(null)] },
      { task: "a", reward: 0, turns: [plainTurn(null)] },
      { task: "a", reward: null, turns: [plainTurn(null)] },
      { task: "b", reward: 1, outcome: masked, turns: [plainTurn(null)] },
      { task: "b", reward: 1, textOnly: true, turns: [plainTurn("ls"), plainTurn(null)] },
      { task: "b", reward: null, phase: "running", turns: [] },
    ]);
    const report = await write(recorded, "verl-rl");
    expect(report).toMatchObject({ count: 2, unit: "rows" });
    expect(Object.fromEntries(report.leftOut.map(({ reason, count }) => [reason, count]))).toEqual({
      "no reward": 1,
      "environment-failure, image-pull: masked": 1,
      "no token ids": 1,
      "has not ended": 1,
    });
  });

  test("supervised rows are successes unless all are wanted; text-only ones have their messages", async () => {
    recorded = recordedStore([
      { task: "a", reward: 1, turns: [plainTurn("ls"), plainTurn(null)] },
      { task: "a", reward: 0, turns: [plainTurn(null)] },
      { task: "b", reward: 1, textOnly: true, turns: [plainTurn("ls"), plainTurn(null)] },
    ]);
    const chosen = await write(recorded, "trl-sft", { all: false });
    expect(chosen).toMatchObject({ count: 2, leftOut: [{ reason: "did not succeed (--all keeps it)", count: 1 }] });
    expect(chosen.notes).toEqual(["1 of 2 rows have no token ids, so no row carries them: the trainer tokenises by its own template."]);
    const [first] = jsonLines(chosen.path);
    expect(first).toMatchObject({
      messages: [
        { role: "system", content: "You are an agent in a shell." },
        { role: "user", content: "Do the task." },
        {
          role: "assistant",
          content: "",
          tool_calls: [{ id: "call_0", type: "function", function: { name: "bash", arguments: { command: "ls" } } }],
        },
        { role: "tool", content: "ok", tool_call_id: "call_0" },
        { role: "assistant", content: "Done." },
      ],
      tools: [{ type: "function", function: { name: "bash" } }],
    });
    expect(await write(recorded, "trl-sft")).toMatchObject({ count: 3, leftOut: [] });
  });

  test("an advantage of a success is that of its whole group", async () => {
    recorded = recordedStore([
      { task: "a", reward: 1, turns: [plainTurn(null)] },
      { task: "a", reward: 0, turns: [plainTurn(null)] },
    ]);
    await write(recorded, "trl-sft", { all: false, algorithm: "rloo" });
    const row = trlRow.parse(jsonLines(join(recorded.folder, "out.trl-sft"))[0]);
    // (1 − ½)·2/1 on the three sampled tokens.
    expect(row.advantages).toEqual([0, 0, 0, 1, 1, 1]);
  });

  test("a rollout alone is compared with its group all the same", async () => {
    recorded = recordedStore([
      { task: "a", reward: 1, turns: [plainTurn(null)] },
      { task: "a", reward: 0, turns: [plainTurn(null)] },
      { task: "a", reward: null, turns: [plainTurn(null)] },
      { task: "b", reward: 1, turns: [plainTurn(null)] },
    ]);
    const report = await write(recorded, "slime", { id: "r-00000001", algorithm: "rloo" });
    expect(report).toMatchObject({ count: 1, leftOut: [] });
    const row = slimeRow.parse(jsonLines(report.path)[0]);
    expect([row.rollout_id, row.metadata.advantages]).toEqual(["r-00000001", [-1, -1, -1]]);
    await expect(write(recorded, "slime", { id: "r-00000002" })).rejects.toThrow("There is nothing to train in it: 1 × no reward.");
  });

  test("whitened advantages are over the whole batch", async () => {
    recorded = recordedStore([
      { task: "a", reward: 1, turns: [plainTurn(null)] },
      { task: "a", reward: 0, turns: [plainTurn(null)] },
      { task: "b", reward: 1, turns: [plainTurn(null)] },
      { task: "b", reward: 0.5, turns: [plainTurn(null)] },
    ]);
    await write(recorded, "slime", { algorithm: "reinforce++" });
    const all = jsonLines(join(recorded.folder, "out.slime")).flatMap((row) => slimeRow.parse(row).metadata.advantages);
    expect(all.reduce((sum, value) => sum + value, 0)).toBeCloseTo(0, 6);
  });

  test("algorithms that need more than rewards, and none, are refused in a sentence", async () => {
    recorded = recordedStore([{ task: "a", reward: 1, turns: [plainTurn(null)] }]);
    await expect(write(recorded, "slime", { algorithm: "ppo" })).rejects.toThrow(
      "Advantages of ppo come from a value head, which an experiment has not.",
    );
    await expect(write(recorded, "slime", { algorithm: "grop" })).rejects.toThrow("There is no algorithm called `grop`.");
    await expect(write(recorded, "slime", { id: "e-none" })).rejects.toThrow("There is no experiment, rollout or training run e-none.");
  });
});

function sorted(rows: readonly PlainRow[]): readonly PlainRow[] {
  return rows.toSorted((left, right) => (left.key < right.key ? -1 : 1));
}

function fromTrl(row: z.output<typeof trlRow>): PlainRow {
  return { key: `${row.origin.rollout} ${row.origin.chain}`, ids: row.input_ids, mask: row.assistant_masks, advantages: row.advantages };
}

function fromVerlSft(row: z.output<typeof verlSftRow>): PlainRow {
  return { key: `${row.origin.rollout} ${row.origin.chain}`, ids: row.input_ids, mask: row.loss_mask, advantages: row.advantages };
}

function fromSlime(row: z.output<typeof slimeRow>): PlainRow {
  const before = row.tokens.slice(0, row.tokens.length - row.response_length).map(() => 0);
  expect(row.rollout_log_probs).toHaveLength(row.response_length);
  return {
    key: `${row.rollout_id} ${row.metadata.chain}`,
    ids: row.tokens,
    mask: [...before, ...row.loss_mask],
    advantages: [...before, ...row.metadata.advantages],
  };
}

function fromVerlRl(row: z.output<typeof verlRlRow>): PlainRow {
  const before = row.prompt_ids.map(() => 0);
  return {
    key: `${row.extra_info.rollout} ${row.extra_info.chain}`,
    ids: [...row.prompt_ids, ...row.response_ids],
    mask: [...before, ...row.response_mask],
    advantages: [...before, ...row.advantages],
  };
}
