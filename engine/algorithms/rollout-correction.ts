/**
 * Sampler ≠ trainer: importance weights, rejection and the measures of how far the two are apart.
 * x = log-probability under the trainer (old) − under the sampler. Source: verl's rollout correction; truncated importance sampling, IcePop.
 */
import { at, clamp, forEachMasked, type Matrix, mapMasked, maskedMean, maskedShare, maskTotal, rowLengths, rowSums } from "./matrix.ts";

export interface ImportanceSettings {
  readonly level: "token" | "sequence";
  /** `truncate`: min(w, high). `band`: w inside [low, high], else 0. */
  readonly form: "truncate" | "band";
  readonly low?: number;
  readonly high: number;
  readonly normalise: boolean;
}

export interface RejectionRule {
  readonly level: "token" | "seq_sum" | "seq_mean" | "seq_max";
  readonly statistic: "k1" | "k2" | "k3";
  /** Bounds on sampler/trainer for k1 (default low = 1/high); the others use `high` alone. */
  readonly low?: number;
  readonly high: number;
}

interface ImportanceMetrics {
  readonly mean: number;
  readonly deviation: number;
  /** 1/mean((w/mean w)²): a share of 1. */
  readonly effectiveSampleSize: number;
  readonly max: number;
  readonly min: number;
  readonly shareHigh: number;
  readonly shareLow: number;
  /** Share zeroed by a band; 0 for truncation. */
  readonly shareOutside: number;
  readonly normaliser: number;
}

export interface RolloutCorrection {
  /** Importance weights, 0 where masked; null when none were asked for. */
  readonly weights: Matrix | null;
  readonly importance: ImportanceMetrics | null;
  /** The mask with rejected tokens taken out. */
  readonly mask: Matrix;
  /** Share of trained tokens, and of rows with a trained token, that were rejected. */
  readonly rejected: { readonly tokens: number; readonly rows: number };
}

const exponentLimit = 20;

export function correctRollouts(
  old: Matrix,
  sampler: Matrix,
  mask: Matrix,
  settings: { readonly importance?: ImportanceSettings; readonly rejection?: readonly RejectionRule[] },
): RolloutCorrection {
  const difference = (index: number): number => at(old.values, index) - at(sampler.values, index);
  const importance = settings.importance === undefined ? null : importanceWeights(difference, mask, settings.importance);
  const kept = (settings.rejection ?? []).reduce((remaining, rule) => intersect(remaining, rejectionMask(difference, mask, rule)), mask);
  const trained = maskTotal(mask);
  const lostPerRow = rowSums(mask, (index) => 1 - at(kept.values, index));
  return {
    weights: importance?.weights ?? null,
    importance: importance?.metrics ?? null,
    mask: kept,
    rejected: { tokens: (trained - maskTotal(kept)) / (trained + 1e-8), rows: lostPerRow.filter((lost) => lost > 0).length / mask.rows },
  };
}

function importanceWeights(
  difference: (index: number) => number,
  mask: Matrix,
  settings: ImportanceSettings,
): { weights: Matrix; metrics: ImportanceMetrics } {
  const byToken = settings.level === "token";
  const rowTotals = rowSums(mask, difference);
  const exponent = (index: number): number => (byToken ? difference(index) : at(rowTotals, Math.floor(index / mask.width)));
  const raw = mapMasked(mask, (index) => Math.exp(clamp(exponent(index), -exponentLimit, exponentLimit)));
  const low = settings.low ?? 1 / settings.high;
  const inside = (weight: number): boolean => weight >= low && weight <= settings.high;
  const bounded = mapMasked(mask, (index) => {
    const weight = at(raw.values, index);
    if (settings.form === "truncate") return Math.min(weight, settings.high);
    return inside(weight) ? weight : 0;
  });
  const weightAt = (index: number): number => at(bounded.values, index);
  const mean = maskedMean(mask, weightAt);
  const square = maskedMean(mask, (index) => weightAt(index) ** 2);
  const lengths = rowLengths(mask);
  const trainedRows = [...lengths.keys()].filter((row) => at(lengths, row) > 0);
  const rowWeights = trainedRows.map((row) => Math.exp(clamp(at(rowTotals, row), -exponentLimit, exponentLimit)));
  const share = (holds: (weight: number) => boolean): number =>
    byToken ? maskedShare(mask, (index) => holds(at(raw.values, index))) : rowWeights.filter(holds).length / Math.max(trainedRows.length, 1);
  const normaliser = settings.normalise ? (byToken ? mean : meanOfRows(bounded, mask, trainedRows)) : 1;
  const extremes = byToken ? trainedExtremes(mask, weightAt) : sequenceExtremes(trainedRows.map((row) => at(rowTotals, row)));
  return {
    weights: normaliser > 1e-8 ? mapMasked(mask, (index) => weightAt(index) / normaliser) : bounded,
    metrics: {
      mean,
      deviation: Math.sqrt(Math.max(square - mean * mean, 0)),
      effectiveSampleSize: 1 / maskedMean(mask, (index) => (weightAt(index) / (mean + 1e-8)) ** 2),
      ...extremes,
      shareHigh: share((weight) => weight > settings.high),
      shareLow: share((weight) => weight < low),
      shareOutside: settings.form === "band" ? share((weight) => !inside(weight)) : 0,
      normaliser,
    },
  };
}

function meanOfRows(weights: Matrix, mask: Matrix, trainedRows: readonly number[]): number {
  const firstOf = new Map<number, number>();
  forEachMasked(mask, (index, row) => {
    if (!firstOf.has(row)) firstOf.set(row, at(weights.values, index));
  });
  return trainedRows.reduce((sum, row) => sum + (firstOf.get(row) ?? 0), 0) / Math.max(trainedRows.length, 1);
}

function trainedExtremes(mask: Matrix, value: (index: number) => number): { max: number; min: number } {
  let max = Number.NEGATIVE_INFINITY;
  let min = Number.POSITIVE_INFINITY;
  forEachMasked(mask, (index) => {
    max = Math.max(max, value(index));
    min = Math.min(min, value(index));
  });
  return { max, min };
}

/** Of the rows' weights before truncation; only the upper one is kept from overflowing. */
function sequenceExtremes(totals: readonly number[]): { max: number; min: number } {
  return { max: Math.exp(Math.min(Math.max(...totals), exponentLimit)), min: Math.exp(Math.min(...totals)) };
}

function statisticOf(kind: RejectionRule["statistic"], difference: number): number {
  const x = clamp(difference, -exponentLimit, exponentLimit);
  if (kind === "k1") return -x;
  return kind === "k2" ? 0.5 * x * x : Math.exp(x) - 1 - x;
}

/** The mask less what fails `rule`. */
function rejectionMask(difference: (index: number) => number, mask: Matrix, rule: RejectionRule): Matrix {
  const passes = (value: number): boolean =>
    rule.statistic === "k1" ? value >= Math.log(rule.low ?? 1 / rule.high) && value <= Math.log(rule.high) : value <= rule.high;
  const token = (index: number): number => statisticOf(rule.statistic, difference(index));
  if (rule.level === "token") return mapMasked(mask, (index) => (passes(token(index)) ? 1 : 0));
  const rows = rule.level === "seq_max" ? rowMaxima(mask, token) : rowSums(mask, token);
  const lengths = rowLengths(mask);
  const byRow = (row: number): number => (rule.level === "seq_mean" ? at(rows, row) / (at(lengths, row) + 1e-8) : at(rows, row));
  return mapMasked(mask, (index) => (passes(byRow(Math.floor(index / mask.width))) ? 1 : 0));
}

function rowMaxima(mask: Matrix, value: (index: number) => number): Float64Array {
  const maxima = new Float64Array(mask.rows).fill(Number.NEGATIVE_INFINITY);
  forEachMasked(mask, (index, row) => {
    maxima[row] = Math.max(at(maxima, row), value(index));
  });
  return maxima;
}

function intersect(left: Matrix, right: Matrix): Matrix {
  return mapMasked(left, (index) => at(right.values, index));
}
