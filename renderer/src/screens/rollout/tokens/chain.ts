/** A chain as a flat row of tokens: lookups by position, edges, surprises. Positions count from 0 over the whole chain. Pure. */
import type { ChainTokens, TokenSpan } from "../../../service/views.ts";

export interface PlacedSpan {
  readonly span: TokenSpan;
  readonly index: number;
  /** Position of its first token. */
  readonly start: number;
}

export interface TokenAt {
  readonly position: number;
  readonly id: number;
  /** null when the tokenizer is not known. */
  readonly text: string | null;
  /** null where none was captured. */
  readonly logprob: number | null;
  readonly span: PlacedSpan;
}

export function placeSpans(chain: ChainTokens): readonly PlacedSpan[] {
  let start = 0;
  return chain.spans.map((span, index) => {
    const placed = { span, index, start };
    start += span.ids.length;
    return placed;
  });
}

/** The span that holds a position; spans are few beside tokens, and in order. */
export function spanAt(spans: readonly PlacedSpan[], position: number): PlacedSpan | null {
  let low = 0;
  let high = spans.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const placed = spans[middle];
    if (placed === undefined) return null;
    if (position < placed.start) high = middle - 1;
    else if (position >= placed.start + placed.span.ids.length) low = middle + 1;
    else return placed;
  }
  return null;
}

export function tokenAt(spans: readonly PlacedSpan[], position: number): TokenAt | null {
  const placed = spanAt(spans, position);
  if (placed === null) return null;
  const offset = position - placed.start;
  const { ids, texts, logprobs } = placed.span;
  return { position, id: ids[offset] ?? 0, text: texts?.[offset] ?? null, logprob: logprobs?.[offset] ?? null, span: placed };
}

/** Positions where the mask changes from the token before. */
export function maskEdges(spans: readonly PlacedSpan[]): readonly number[] {
  const filled = spans.filter((placed) => placed.span.ids.length > 0);
  return filled.flatMap((placed, index) => (index > 0 && filled[index - 1]?.span.mask !== placed.span.mask ? [placed.start] : []));
}

/** Below this probability a sampled token is worth a look. */
const lowProbability = 0.001;

export function lowProbabilities(spans: readonly PlacedSpan[]): readonly { readonly position: number; readonly logprob: number }[] {
  const limit = Math.log(lowProbability);
  return spans.flatMap(({ span, start }) =>
    (span.logprobs ?? []).flatMap((logprob, offset) => (logprob !== null && logprob < limit ? [{ position: start + offset, logprob }] : [])),
  );
}

/** The next of some sorted positions after this one, going round. */
export function nextOf(positions: readonly number[], after: number): number | null {
  return positions.find((position) => position > after) ?? positions[0] ?? null;
}

/** Steps of surprise: 0 expected … 6 very surprising; at −.1 −.5 −1 −2 −3 −5. */
const steps = [-0.1, -0.5, -1, -2, -3, -5] as const;

export function heatStep(logprob: number): number {
  const at = steps.findIndex((limit) => logprob > limit);
  return at === -1 ? 6 : at;
}

export interface SurpriseBin {
  readonly from: number;
  readonly to: number;
  /** Lowest log-probability in the bin; null when nothing was captured there. */
  readonly lowest: number | null;
  /** Share of its tokens that are trained. */
  readonly trained: number;
}

/** The chain in `count` equal stretches, for a picture of where it surprises. */
export function surpriseBins(spans: readonly PlacedSpan[], total: number, count: number): readonly SurpriseBin[] {
  const bins = Math.max(1, Math.min(count, total));
  const lowest: (number | null)[] = Array.from({ length: bins }, () => null);
  const trained: number[] = Array.from({ length: bins }, () => 0);
  const binOf = (position: number): number => Math.min(bins - 1, Math.floor((position * bins) / Math.max(1, total)));
  for (const { span, start } of spans) {
    for (let offset = 0; offset < span.ids.length; offset += 1) {
      const bin = binOf(start + offset);
      if (span.mask === 1) trained[bin] = (trained[bin] ?? 0) + 1;
      const logprob = span.logprobs?.[offset] ?? null;
      const known = lowest[bin] ?? null;
      if (logprob !== null && (known === null || logprob < known)) lowest[bin] = logprob;
    }
  }
  return lowest.map((value, bin) => {
    const from = Math.ceil((bin * total) / bins);
    const to = Math.max(from + 1, Math.ceil(((bin + 1) * total) / bins));
    return { from, to, lowest: value, trained: (trained[bin] ?? 0) / (to - from) };
  });
}

export interface LogprobStats {
  readonly n: number;
  /** null when no log-probability was captured. */
  readonly mean: number | null;
  /** Counts of 0…−1, −1…−2, …, the last one open. */
  readonly histogram: readonly number[];
}

const histogramBins = 10;

export function logprobStats(spans: readonly PlacedSpan[]): LogprobStats {
  const histogram = Array.from({ length: histogramBins }, () => 0);
  let sum = 0;
  let n = 0;
  for (const { span } of spans) {
    for (const logprob of span.logprobs ?? []) {
      if (logprob === null || !Number.isFinite(logprob)) continue;
      n += 1;
      sum += logprob;
      const bin = Math.min(histogramBins - 1, Math.floor(-logprob));
      histogram[bin] = (histogram[bin] ?? 0) + 1;
    }
  }
  return { n, mean: n === 0 ? null : sum / n, histogram };
}
