/**
 * Advantage estimators. Scores are rollout rewards, groups are rollouts whose rewards are compared; all arithmetic is float64.
 * Source: the papers named and verl's `core_algos`; every function is held to reference values in tests/fixtures/algorithms.
 */
import { at, type Matrix, mapMasked, matrixLike, whiten } from "./matrix.ts";

export interface TokenAdvantages {
  readonly advantages: Matrix;
  /** Targets of a value head; the same shape. */
  readonly returns: Matrix;
}

interface Group {
  readonly members: readonly number[];
  readonly mean: number;
  /** n − 1 in the denominator; 1 for a group of one. */
  readonly deviation: number;
}

/** Members and statistics by group label. A group of one has mean 0 and deviation 1, so that its score stays itself. */
function groupsOf(scores: ArrayLike<number>, labels: readonly string[]): Group[] {
  const members = new Map<string, number[]>();
  labels.forEach((label, index) => {
    const known = members.get(label);
    if (known === undefined) members.set(label, [index]);
    else known.push(index);
  });
  return [...members.values()].map((indexes) => {
    const n = indexes.length;
    if (n === 1) return { members: indexes, mean: 0, deviation: 1 };
    const mean = indexes.reduce((sum, index) => sum + at(scores, index), 0) / n;
    const variance = indexes.reduce((sum, index) => sum + (at(scores, index) - mean) ** 2, 0) / (n - 1);
    return { members: indexes, mean, deviation: Math.sqrt(variance) };
  });
}

function perMember(
  scores: ArrayLike<number>,
  labels: readonly string[],
  value: (score: number, group: Group, index: number) => number,
): Float64Array {
  const result = new Float64Array(scores.length);
  for (const group of groupsOf(scores, labels)) for (const index of group.members) result[index] = value(at(scores, index), group, index);
  return result;
}

/** GRPO: (s − μ)/(σ + ε), or s − μ without division (Dr. GRPO). One number a score. */
export function grpoAdvantages(
  scores: ArrayLike<number>,
  labels: readonly string[],
  settings: { divideByDeviation: boolean; epsilon: number },
): Float64Array {
  return perMember(scores, labels, (score, group) =>
    settings.divideByDeviation ? (score - group.mean) / (group.deviation + settings.epsilon) : score - group.mean,
  );
}

/** RLOO: (s − μ)·n/(n − 1); a group of one keeps its score. */
export function rlooAdvantages(scores: ArrayLike<number>, labels: readonly string[]): Float64Array {
  return perMember(scores, labels, (score, { members, mean }) =>
    members.length === 1 ? score : ((score - mean) * members.length) / (members.length - 1),
  );
}

/** OPO: s − Σ l·s/Σ l over the group, l = trained tokens of the row; a group of one keeps its score. */
export function opoAdvantages(scores: ArrayLike<number>, labels: readonly string[], lengths: ArrayLike<number>): Float64Array {
  return perMember(scores, labels, (score, { members }) => {
    if (members.length === 1) return score;
    const weighted = members.reduce((sum, index) => sum + at(lengths, index) * at(scores, index), 0);
    return score - weighted / members.reduce((sum, index) => sum + at(lengths, index), 0);
  });
}

/** pass@k form of GRPO: the best of the group gets its lead over the second, all others 0. Groups need two members. */
export function passAtKAdvantages(
  scores: ArrayLike<number>,
  labels: readonly string[],
  settings: { divideByDeviation: boolean; epsilon: number },
): Float64Array {
  const result = new Float64Array(scores.length);
  for (const { members, deviation } of groupsOf(scores, labels)) {
    if (members.length < 2) throw new RangeError("pass@k advantages need groups of two rollouts or more");
    const [best, second] = members.toSorted((left, right) => at(scores, right) - at(scores, left));
    if (best === undefined || second === undefined) continue;
    const lead = at(scores, best) - at(scores, second);
    result[best] = settings.divideByDeviation ? lead / (deviation + settings.epsilon) : lead;
  }
  return result;
}

/** One number a row, put on each of its trained tokens. */
export function broadcastToTokens(perRow: ArrayLike<number>, mask: Matrix): Matrix {
  return mapMasked(mask, (index) => at(perRow, Math.floor(index / mask.width)));
}

/** Reward-to-go with discount γ over trained tokens; a reward on a masked token is lost and G passes it unchanged. */
function discountedReturns(rewards: Matrix, mask: Matrix, gamma: number): Matrix {
  const returns = matrixLike(mask);
  for (let row = 0; row < mask.rows; row += 1) {
    let running = 0;
    for (let column = mask.width - 1; column >= 0; column -= 1) {
      const index = row * mask.width + column;
      if (mask.values[index] !== 1) continue;
      running = at(rewards.values, index) + gamma * running;
      returns.values[index] = running;
    }
  }
  return returns;
}

/** REINFORCE++: discounted returns, whitened over the batch. */
export function reinforcePlusPlus(rewards: Matrix, mask: Matrix, gamma: number): TokenAdvantages {
  const returns = discountedReturns(rewards, mask, gamma);
  return { advantages: whiten(returns, mask), returns };
}

/** REINFORCE++-baseline: s − μ of the group on every trained token, whitened over the batch. */
export function reinforcePlusPlusBaseline(scores: ArrayLike<number>, labels: readonly string[], mask: Matrix): Matrix {
  const centred = perMember(scores, labels, (score, { mean }) => score - mean);
  return whiten(broadcastToTokens(centred, mask), mask);
}

/** ReMax: reward-to-go less the score of the greedy rollout. `baselines`: one a row. */
export function remax(rewards: Matrix, mask: Matrix, baselines: ArrayLike<number>): TokenAdvantages {
  const returns = discountedReturns(rewards, mask, 1);
  return { advantages: mapMasked(mask, (index) => at(returns.values, index) - at(baselines, Math.floor(index / mask.width))), returns };
}

/**
 * Generalised advantage estimation: from the right δ = r + γV′ − V, g = δ + γλg′; masked tokens pass V′ and g′ on unchanged.
 * `raw` is g before whitening; `advantages` is whitened.
 */
export function generalisedAdvantages(
  rewards: Matrix,
  values: Matrix,
  mask: Matrix,
  settings: { readonly gamma: number; readonly lambda: number },
): TokenAdvantages & { readonly raw: Matrix } {
  const raw = matrixLike(mask);
  for (let row = 0; row < mask.rows; row += 1) {
    let nextValue = 0;
    let running = 0;
    for (let column = mask.width - 1; column >= 0; column -= 1) {
      const index = row * mask.width + column;
      if (mask.values[index] !== 1) continue;
      const value = at(values.values, index);
      running = at(rewards.values, index) + settings.gamma * nextValue - value + settings.gamma * settings.lambda * running;
      nextValue = value;
      raw.values[index] = running;
    }
  }
  const returns = mapMasked(mask, (index) => at(raw.values, index) + at(values.values, index));
  return { raw, returns, advantages: whiten(raw, mask) };
}

/** Reward of each row: the sum of its token rewards, masked or not. Source: the convention of the reference implementation. */
export function rowScores(rewards: Matrix): Float64Array {
  const scores = new Float64Array(rewards.rows);
  rewards.values.forEach((reward, index) => {
    const row = Math.floor(index / rewards.width);
    scores[row] = at(scores, row) + reward;
  });
  return scores;
}

/** Groups of several rollouts whose scores are all equal teach nothing: 0 for their members, 1 for the rest. */
export function groupsWithVariance(
  scores: ArrayLike<number>,
  labels: readonly string[],
): { readonly keep: Float64Array; readonly shareWithout: number } {
  const groups = groupsOf(scores, labels);
  const keep = new Float64Array(scores.length).fill(1);
  const flat = groups.filter(({ members }) => members.length > 1 && members.every((index) => at(scores, index) === at(scores, members[0] ?? index)));
  for (const { members } of flat) for (const index of members) keep[index] = 0;
  return { keep, shareWithout: groups.length === 0 ? 0 : flat.length / groups.length };
}
