/** Masks and advantages of recorded rows, by the same function that the trainer uses. */
import type { Matrix } from "../../../engine/algorithms/index.ts";
import { type Algorithm, namedAlgorithms, prepareExperience } from "../../../engine/training/index.ts";
import { WorkbenchError } from "../../errors.ts";
import type { ChainRow } from "./chain-rows.ts";
import type { RowTokens } from "./training-row.ts";

type ChainTokensOfRow = NonNullable<ChainRow["tokens"]>;

/** A rollout with the rows it gave. */
export interface RewardedRollout {
  readonly id: string;
  readonly reward: number;
  readonly group: string;
  readonly length: number;
  readonly rows: readonly (ChainRow & { readonly tokens: ChainTokensOfRow })[];
}

/** Rejects names that are none, and algorithms whose advantages need more than rewards. */
export function algorithmOf(name: string): Algorithm {
  const algorithm: Algorithm | undefined = Object.entries(namedAlgorithms).find(([known]) => known === name)?.[1];
  const names = Object.keys(namedAlgorithms).join(", ");
  if (algorithm === undefined) throw new WorkbenchError("usage", `There is no algorithm called \`${name}\`.`, `Give one of ${names}.`);
  if (algorithm.advantage.kind === "value-head")
    throw new WorkbenchError(
      "usage",
      `Advantages of ${name} come from a value head, which an experiment has not.`,
      "Export a training run, or give another --algorithm, as in --algorithm grpo.",
    );
  return algorithm;
}

/** Whether an advantage depends on its group alone; else on the whole batch. */
export function isByGroup({ advantage }: Algorithm): boolean {
  return advantage.kind === "group" || advantage.kind === "leave-one-out" || advantage.kind === "length-weighted";
}

/** Tokens of every row, in order of rollouts and rows. Column j of a matrix is token j + 1: the first token is never predicted. */
export function withAdvantages(rollouts: readonly RewardedRollout[], algorithm: Algorithm): readonly RowTokens[] {
  const rows = rollouts.flatMap((rollout, index) => rollout.rows.map((row) => ({ tokens: row.tokens, rollout: index })));
  const width = Math.max(1, ...rows.map(({ tokens }) => tokens.ids.length - 1));
  const matrix = (values: (tokens: ChainTokensOfRow) => Uint8Array | Float32Array): Matrix => {
    const filled = new Float64Array(rows.length * width);
    for (const [row, { tokens }] of rows.entries()) filled.set(values(tokens).subarray(1), row * width);
    return { rows: rows.length, width, values: filled };
  };
  const mask = matrix((tokens) => tokens.mask);
  const prepared = prepareExperience(
    {
      rollouts,
      rolloutOfRow: rows.map(({ rollout }) => rollout),
      mask,
      old: matrix((tokens) => tokens.logprobs),
      sampler: null,
      reference: null,
      values: null,
    },
    algorithm,
    0,
  );
  return rows.map(({ tokens }, row) => {
    const predicted = (values: Float64Array) => values.subarray(row * width, row * width + tokens.ids.length - 1);
    const kept = new Uint8Array(tokens.ids.length);
    const advantages = new Float64Array(tokens.ids.length);
    kept.set(predicted(prepared.mask.values), 1);
    advantages.set(predicted(prepared.advantages.values), 1);
    return { ...tokens, mask: kept, advantages };
  });
}
