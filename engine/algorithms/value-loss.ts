/** Clipped value loss of PPO. */
import { type Aggregation, aggregate, aggregationWeights } from "./aggregation.ts";
import { at, clamp, type Matrix, mapMasked, maskedShare } from "./matrix.ts";

export interface ValueLoss {
  readonly loss: number;
  /** Derivative by each predicted value. */
  readonly gradient: Matrix;
  /** Share of trained tokens where the clipped term is the larger. */
  readonly clipFraction: number;
}

/** 0.5·agg(max((v − R)², (clamp(v, old ± range) − R)²)). */
export function valueLoss(predicted: Matrix, old: Matrix, returns: Matrix, mask: Matrix, range: number, aggregation: Aggregation): ValueLoss {
  const clipped = (index: number): number => clamp(at(predicted.values, index), at(old.values, index) - range, at(old.values, index) + range);
  const first = (index: number): number => (at(predicted.values, index) - at(returns.values, index)) ** 2;
  const second = (index: number): number => (clipped(index) - at(returns.values, index)) ** 2;
  const losses = mapMasked(mask, (index) => 0.5 * Math.max(first(index), second(index)));
  const weights = aggregationWeights(mask, aggregation);
  const gradient = mapMasked(mask, (index) => {
    const slope = at(predicted.values, index) - at(returns.values, index);
    const free = clipped(index) === at(predicted.values, index);
    return first(index) >= second(index) || free ? at(weights.values, index) * slope : 0;
  });
  return { loss: aggregate(losses, mask, weights), gradient, clipFraction: maskedShare(mask, (index) => second(index) > first(index)) };
}
