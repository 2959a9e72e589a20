/**
 * One optimiser step at a time: score a mini-batch, turn the scores into coefficients, add up gradients over micro-batches, clip, update.
 * Repeats to the bit on the CPU: nothing here depends on time or on the order of events.
 */
import { type Matrix, maskTotal } from "../algorithms/index.ts";
import {
  AdamW,
  type AdamWSettings,
  type AdamWState,
  clipFactor,
  firstNonFinite,
  GradientSum,
  globalNorm,
  type NamedArrays,
} from "../optimiser/index.ts";
import { type MicroBatch, planMicroBatches } from "./micro-batches.ts";
import type { Objective } from "./objective.ts";
import { supervisedCoefficients, supervisedLoss } from "./objective.ts";
import type { Coefficients, Scores, SequenceModel } from "./sequence-model.ts";

export interface TrainerOptions {
  readonly model: SequenceModel;
  /** The model's trained parameters; updated in place. */
  readonly parameters: NamedArrays;
  readonly optimiser: AdamWSettings;
  /** Gradients are scaled down to this norm. */
  readonly clipNorm: number;
  /** A norm beyond this stops the run. */
  readonly stopNorm: number;
  /** Positions of one micro-batch, and tokens of a sequence, at most. */
  readonly limits: { readonly positions: number; readonly longest: number };
}

interface ScoreOptions {
  /** That the sequences were sampled at. Above 0; left out = 1. */
  readonly temperature?: number;
  readonly signal?: AbortSignal;
  /** Micro-batches done, of all passes of this step. */
  readonly onProgress?: (done: number, total: number) => void;
}

export interface StepOptions extends ScoreOptions {
  readonly rate: number;
}

export interface StepReport {
  /** 1 for the first update. */
  readonly step: number;
  readonly loss: number;
  /** Of the gradients before clipping. */
  readonly norm: number;
  readonly rate: number;
  readonly trainedTokens: number;
  readonly microBatches: number;
  /** Sequences longer than the limit: left out. */
  readonly tooLong: readonly number[];
  readonly metrics: Readonly<Record<string, number>>;
}

/** Numbers that are none, or gradients without bounds: which step, which part of it, which tensor. */
export class TrainingDiverged extends Error {
  readonly step: number;
  readonly tensor: string;
  constructor(step: number, part: string, tensor: string, problem: string) {
    super(`step ${step}, ${part}: ${problem} in ${tensor}`);
    this.name = "TrainingDiverged";
    this.step = step;
    this.tensor = tensor;
  }
}

export class Trainer {
  readonly #options: TrainerOptions;
  readonly #optimiser: AdamW;

  constructor(options: TrainerOptions) {
    this.#options = options;
    this.#optimiser = new AdamW(options.parameters, options.optimiser);
  }

  get state(): AdamWState {
    return this.#optimiser.state;
  }

  restore(state: AdamWState): void {
    this.#optimiser.restore(state);
  }

  /** Sequences that are longer than the limit. */
  tooLong(sequences: readonly Int32Array[]): readonly number[] {
    return this.#plan(sequences).tooLong;
  }

  /** Scores of every sequence; rows of sequences that are too long stay 0. */
  async score(sequences: readonly Int32Array[], options: ScoreOptions = {}): Promise<Scores> {
    return this.scoreWith(this.#options.model, sequences, options);
  }

  /** Scores by another model, cut into the same micro-batches: a frozen reference. */
  async scoreWith(model: SequenceModel, sequences: readonly Int32Array[], options: ScoreOptions = {}): Promise<Scores> {
    const { batches } = this.#plan(sequences);
    return this.#scoreAll(model, sequences, batches, options, (done) => options.onProgress?.(done, batches.length));
  }

  /** Cross-entropy on the tokens of `mask`. null: nothing to train. */
  async supervisedStep(sequences: readonly Int32Array[], mask: Matrix, options: StepOptions): Promise<StepReport | null> {
    const { batches, tooLong } = this.#plan(sequences);
    const trained = withoutRows(mask, tooLong);
    if (maskTotal(trained) === 0) return null;
    const progress = (done: number): void => options.onProgress?.(done, batches.length);
    const scores = await this.#accumulate(sequences, batches, supervisedCoefficients(trained), options, progress);
    return this.#update(
      scores.gradients,
      supervisedLoss(scores.logprobs, trained),
      trained,
      { batches: batches.length, tooLong, metrics: {} },
      options,
    );
  }

  /**
   * One step of an objective over the scores of the current parameters. `known`: scores that were just taken at these parameters, which spares
   * the scoring pass. null: nothing to train.
   */
  async policyStep(
    sequences: readonly Int32Array[],
    mask: Matrix,
    objectiveOf: (scores: Scores) => Objective,
    options: StepOptions & { readonly known?: Scores },
  ): Promise<StepReport | null> {
    const { batches, tooLong } = this.#plan(sequences);
    if (tooLong.length > 0) throw new RangeError(`sequences ${tooLong.join(", ")} are longer than the limit; leave them out first`);
    if (maskTotal(mask) === 0) return null;
    const passes = options.known === undefined ? 2 : 1;
    const total = passes * batches.length;
    const scores =
      options.known ?? (await this.#scoreAll(this.#options.model, sequences, batches, options, (done) => options.onProgress?.(done, total)));
    const { loss, coefficients, metrics } = objectiveOf(scores);
    const progress = (done: number): void => options.onProgress?.((passes - 1) * batches.length + done, total);
    const { gradients } = await this.#accumulate(sequences, batches, coefficients, options, progress);
    return this.#update(gradients, loss, mask, { batches: batches.length, tooLong, metrics }, options);
  }

  #plan(sequences: readonly Int32Array[]): { readonly batches: readonly MicroBatch[]; readonly tooLong: readonly number[] } {
    return planMicroBatches(
      sequences.map((sequence) => sequence.length),
      this.#options.limits,
    );
  }

  async #scoreAll(
    model: SequenceModel,
    sequences: readonly Int32Array[],
    batches: readonly MicroBatch[],
    { signal, temperature }: ScoreOptions,
    onDone: (done: number) => void,
  ): Promise<Scores> {
    const collected = new ScoreCollector(sequences);
    for (const [index, batch] of batches.entries()) {
      stopIfAborted(signal);
      collected.add(batch, await model.score(memberBatch(sequences, batch, temperature)));
      onDone(index + 1);
    }
    return collected.scores;
  }

  async #accumulate(
    sequences: readonly Int32Array[],
    batches: readonly MicroBatch[],
    coefficients: Coefficients,
    { signal, temperature }: ScoreOptions,
    onDone: (done: number) => void,
  ): Promise<{ readonly gradients: NamedArrays; readonly logprobs: Matrix }> {
    const { model } = this.#options;
    const sum = new GradientSum(model.sizes);
    const collected = new ScoreCollector(sequences);
    for (const [index, batch] of batches.entries()) {
      stopIfAborted(signal);
      const own = mapCoefficients(coefficients, (matrix) => rowsOf(matrix, batch.members));
      const { scores, gradients } = await model.gradients(memberBatch(sequences, batch, temperature), own);
      const arrays = gradients as NamedArrays;
      const broken = firstNonFinite(arrays);
      if (broken !== null)
        throw new TrainingDiverged(this.state.step + 1, `micro-batch ${index + 1} of ${batches.length}`, broken, "a gradient that is no number");
      sum.add(arrays);
      collected.add(batch, scores);
      onDone(index + 1);
    }
    stopIfAborted(signal);
    return { gradients: sum.take(), logprobs: collected.scores.logprobs };
  }

  #update(
    gradients: NamedArrays,
    loss: number,
    mask: Matrix,
    report: { readonly batches: number; readonly tooLong: readonly number[]; readonly metrics: Readonly<Record<string, number>> },
    { rate }: StepOptions,
  ): StepReport {
    const { clipNorm, stopNorm } = this.#options;
    const norm = globalNorm(gradients);
    if (!(norm <= stopNorm)) {
      throw new TrainingDiverged(this.state.step + 1, "the whole batch", largestTensor(gradients), `a gradient norm of ${norm.toPrecision(3)}`);
    }
    this.#optimiser.update(gradients, rate, clipFactor(norm, clipNorm));
    const { batches, tooLong, metrics } = report;
    return { step: this.state.step, loss, norm, rate, trainedTokens: maskTotal(mask), microBatches: batches, tooLong, metrics };
  }
}

/** Puts the scores of micro-batches back into the rows of the mini-batch. */
class ScoreCollector {
  readonly #shape: Pick<Matrix, "rows" | "width">;
  #logprobs: Matrix;
  #entropy: Matrix | null = null;
  #values: Matrix | null = null;

  constructor(sequences: readonly Int32Array[]) {
    this.#shape = { rows: sequences.length, width: Math.max(...sequences.map((sequence) => sequence.length)) - 1 };
    this.#logprobs = this.#empty();
  }

  add({ members }: MicroBatch, { logprobs, entropy, values }: Scores): void {
    copyRows(logprobs, members, this.#logprobs);
    if (entropy !== null) {
      this.#entropy ??= this.#empty();
      copyRows(entropy, members, this.#entropy);
    }
    if (values !== null) {
      this.#values ??= this.#empty();
      copyRows(values, members, this.#values);
    }
  }

  get scores(): Scores {
    return { logprobs: this.#logprobs, entropy: this.#entropy, values: this.#values };
  }

  #empty(): Matrix {
    return { ...this.#shape, values: new Float64Array(this.#shape.rows * this.#shape.width) };
  }
}

function copyRows(from: Matrix, rows: readonly number[], to: Matrix): void {
  rows.forEach((row, index) => {
    to.values.set(from.values.subarray(index * from.width, (index + 1) * from.width), row * to.width);
  });
}

function rowsOf(matrix: Matrix, rows: readonly number[]): Matrix {
  const values = new Float64Array(rows.length * matrix.width);
  rows.forEach((row, index) => {
    values.set(matrix.values.subarray(row * matrix.width, (row + 1) * matrix.width), index * matrix.width);
  });
  return { rows: rows.length, width: matrix.width, values };
}

function withoutRows(matrix: Matrix, rows: readonly number[]): Matrix {
  if (rows.length === 0) return matrix;
  const values = matrix.values.slice();
  for (const row of rows) values.fill(0, row * matrix.width, (row + 1) * matrix.width);
  return { ...matrix, values };
}

function mapCoefficients({ byLogprob, byEntropy, byValue }: Coefficients, map: (matrix: Matrix) => Matrix): Coefficients {
  return {
    byLogprob: map(byLogprob),
    ...(byEntropy === undefined ? {} : { byEntropy: map(byEntropy) }),
    ...(byValue === undefined ? {} : { byValue: map(byValue) }),
  };
}

function memberBatch(sequences: readonly Int32Array[], { members, placement }: MicroBatch, temperature = 1) {
  return { sequences: members.map((member) => sequences[member] ?? new Int32Array()), placement, temperature };
}

function largestTensor(gradients: NamedArrays): string {
  const norms = [...gradients].map(([name, values]) => ({ name, norm: globalNorm(new Map([[name, values]])) }));
  return norms.reduce((most, one) => (one.norm > most.norm ? one : most), { name: "no tensor", norm: Number.NEGATIVE_INFINITY }).name;
}

function stopIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw signal.reason;
}
