/**
 * A model with trainable parameters, scored and differentiated on batches of sequences. Per-token numbers are matrices with a row for each
 * sequence and a column for each predicted token: entry [s, t] belongs to token t + 1 of sequence s.
 */

import { type Matrix, matrixLike } from "../algorithms/index.ts";
import { zeroInput } from "../autodiff/index.ts";
import {
  type AdapterShape,
  adapterShapes,
  buildSequenceGraph,
  coefficientInputs,
  gradientOutput,
  inverseTemperatureInput,
  type MemoryPlan,
  type ModelDescription,
  type ModelWeights,
  type Trained,
  trainedShapes,
  valueHeadInputs,
  weightShapes,
} from "../models/index.ts";
import { type FloatType, plainKernels, type Runtime, type Session, type Tensor } from "../onnx/index.ts";
import { sessionBytes } from "./memory.ts";
import { OpenSessions } from "./open-sessions.ts";
import type { Placement } from "./placement.ts";

export type FloatArray = Float32Array | Float64Array;

export interface SequenceBatch {
  /** Token ids of each sequence, two at least. */
  readonly sequences: readonly Int32Array[];
  readonly placement: Placement;
  /** That the sequences were sampled at; scores are of that distribution. Above 0; left out = 1. */
  readonly temperature?: number;
}

export interface Scores {
  readonly logprobs: Matrix;
  /** Nats; null when the model was not asked for them. */
  readonly entropy: Matrix | null;
  readonly values: Matrix | null;
}

/** ∂objective/∂score of each token. */
export interface Coefficients {
  readonly byLogprob: Matrix;
  readonly byEntropy?: Matrix;
  readonly byValue?: Matrix;
}

export interface SequenceModelOptions {
  readonly runtime: Runtime;
  readonly description: ModelDescription;
  /** Frozen weights; null when the weights themselves are trained. */
  readonly weights: ModelWeights | null;
  readonly weightsFolder?: string;
  readonly adapter: AdapterShape | null;
  /** Every fed matrix by the name of its input; updated in place by whoever trains. */
  readonly parameters: ReadonlyMap<string, FloatArray>;
  readonly trained: "adapter" | "weights";
  readonly withEntropy: boolean;
  readonly withValues: boolean;
  readonly memory: MemoryPlan;
  /** Shared by the models of a process; left out = sessions of its own, all kept. */
  readonly sessions?: OpenSessions;
  readonly float?: FloatType;
}

/** Names and shapes of what must be fed, and what of it is trained. */
export function parameterShapes(
  options: Pick<SequenceModelOptions, "description" | "adapter" | "trained" | "withValues">,
): ReadonlyMap<string, readonly number[]> {
  const { description, adapter, trained, withValues } = options;
  const shapes = new Map(trained === "weights" ? weightShapes(description) : []);
  for (const [name, shape] of adapter === null ? [] : adapterShapes(description, adapter)) shapes.set(name, shape);
  if (withValues) shapes.set(valueHeadInputs.weight, [1, description.config.hiddenSize]).set(valueHeadInputs.bias, [1]);
  return shapes;
}

export class SequenceModel {
  readonly #options: SequenceModelOptions;
  readonly #float: FloatType;
  readonly #feeds: Readonly<Record<string, Tensor>>;
  readonly #gradients: ReadonlyMap<string, Tensor>;
  readonly #sessions: OpenSessions;

  constructor(options: SequenceModelOptions) {
    this.#options = options;
    this.#float = options.float ?? "float32";
    this.#sessions = options.sessions ?? new OpenSessions();
    const feeds: Record<string, Tensor> = { [zeroInput]: this.#tensor([1], [0]) };
    for (const [name, shape] of parameterShapes(options)) {
      const data = options.parameters.get(name);
      if (data === undefined) throw new RangeError(`the parameter ${name} was not given`);
      feeds[name] = { type: this.#float, shape, data };
    }
    this.#feeds = feeds;
    const trained = new Map(trainedShapes(options.description, options.adapter, options.trained));
    if (options.withValues) for (const name of Object.values(valueHeadInputs)) trained.set(name, feeds[name]?.shape ?? []);
    this.#gradients = new Map([...trained].map(([name, shape]) => [name, this.#empty(shape)]));
  }

  /** Elements of every trained parameter. */
  get sizes(): ReadonlyMap<string, number> {
    return new Map([...this.#gradients].map(([name, { data }]) => [name, data.length]));
  }

  async score(batch: SequenceBatch): Promise<Scores> {
    const session = await this.#session(batch.placement, "nothing");
    const outputs = this.#scoreTensors(batch.placement);
    await session.runInto(this.#feedsFor(session, batch), outputs);
    return this.#scores(batch, outputs);
  }

  /**
   * Gradients of Σ coefficient · score by every trained parameter, with the scores that they were taken at. The arrays are the model's
   * own and hold until the next call.
   */
  async gradients(
    batch: SequenceBatch,
    coefficients: Coefficients,
  ): Promise<{ readonly scores: Scores; readonly gradients: ReadonlyMap<string, FloatArray> }> {
    const session = await this.#session(batch.placement, this.#options.trained);
    const outputs = this.#scoreTensors(batch.placement);
    const { byLogprob, byEntropy, byValue } = coefficients;
    const feeds = {
      ...this.#feedsFor(session, batch),
      [coefficientInputs.logprob]: this.#spread(batch, byLogprob),
      ...(this.#options.withEntropy ? { [coefficientInputs.entropy]: this.#spread(batch, byEntropy ?? matrixLike(byLogprob)) } : {}),
      ...(this.#options.withValues ? { [coefficientInputs.value]: this.#spread(batch, byValue ?? matrixLike(byLogprob)) } : {}),
    };
    const targets = Object.fromEntries([...this.#gradients].map(([name, tensor]) => [gradientOutput(name), tensor]));
    await session.runInto(feeds, { ...outputs, ...targets });
    const gradients = new Map([...this.#gradients].map(([name, { data }]) => [name, data as FloatArray]));
    return { scores: this.#scores(batch, outputs), gradients };
  }

  close(): Promise<void> {
    return this.#sessions.close(this);
  }

  #session(placement: Placement, trained: Trained): Promise<Session> {
    const { description, weightsFolder, adapter, memory, runtime } = this.#options;
    const { rows, width, packed } = placement;
    const size = { description, adapter, rows, width };
    const bytes = sessionBytes(size, memory, trained === "nothing" ? "scoring" : "training");
    return this.#sessions.use(this, `${trained} ${rows}×${width} ${packed}`, bytes, () => {
      const kernels = this.#float === "float64" ? plainKernels : runtime.kernels;
      const model = buildSequenceGraph({ ...this.#options, ...placement, trained, withLogits: false, float: this.#float, kernels });
      return runtime.createSession(model.bytes, {
        purpose: "training",
        keepWeightsNarrow: memory.narrowWeights,
        plain: this.#float === "float64",
        ...(weightsFolder === undefined ? {} : { weightsFolder }),
      });
    });
  }

  /** What the session reads; the optimiser may have removed inputs that a small bucket does not need. */
  #feedsFor(session: Session, batch: SequenceBatch): Record<string, Tensor> {
    const { rows, width, packed, places } = batch.placement;
    const tokens = new Int32Array(rows * width);
    const targets = new Int32Array(rows * width);
    // Padding is a segment of its own, so that it sees no sequence.
    const segments = new Int32Array(rows * width).fill(-1);
    const positions = new BigInt64Array(rows * width);
    batch.sequences.forEach((sequence, index) => {
      const place = places[index];
      if (place === undefined) throw new RangeError(`sequence ${index} has no place`);
      const at = place.row * width + place.start;
      tokens.set(sequence.subarray(0, place.length), at);
      targets.set(sequence.subarray(1, place.length + 1), at);
      segments.fill(index, at, at + place.length);
      for (let position = 0; position < place.length; position += 1) positions[at + position] = BigInt(position);
    });
    const feeds: Record<string, Tensor> = {
      ...this.#feeds,
      [inverseTemperatureInput]: this.#tensor([1], [1 / (batch.temperature ?? 1)]),
      tokens: { type: "int32", shape: [rows, width], data: tokens },
      targets: { type: "int32", shape: [rows * width], data: targets },
    };
    if (packed) {
      feeds.segments = { type: "int32", shape: [rows, width], data: segments };
      feeds.positions = { type: "int64", shape: [rows, width], data: positions };
    }
    return Object.fromEntries(Object.entries(feeds).filter(([name]) => session.inputNames.includes(name)));
  }

  #scoreTensors({ rows, width }: Placement): Record<string, Tensor> {
    const column = (): Tensor => this.#empty([rows * width, 1]);
    return {
      logprobs: column(),
      ...(this.#options.withEntropy ? { entropy: column() } : {}),
      ...(this.#options.withValues ? { values: column() } : {}),
    };
  }

  #scores(batch: SequenceBatch, outputs: Readonly<Record<string, Tensor>>): Scores {
    const collect = (name: string): Matrix | null => {
      const data = outputs[name]?.data;
      return data instanceof Float32Array || data instanceof Float64Array ? this.#collect(batch, data) : null;
    };
    const logprobs = collect("logprobs");
    if (logprobs === null) throw new RangeError("the graph gave no log-probabilities");
    return { logprobs, entropy: collect("entropy"), values: collect("values") };
  }

  /** Positions of the bucket → a row for each sequence. */
  #collect({ placement }: SequenceBatch, data: FloatArray): Matrix {
    const columns = Math.max(...placement.places.map(({ length }) => length));
    const matrix: Matrix = { rows: placement.places.length, width: columns, values: new Float64Array(placement.places.length * columns) };
    placement.places.forEach(({ row, start, length }, index) => {
      const at = row * placement.width + start;
      matrix.values.set(data.subarray(at, at + length), index * columns);
    });
    return matrix;
  }

  /** A row for each sequence → positions of the bucket, 0 on padding. */
  #spread({ placement }: SequenceBatch, matrix: Matrix): Tensor {
    const tensor = this.#empty([placement.rows * placement.width, 1]);
    const data = tensor.data as FloatArray;
    placement.places.forEach(({ row, start, length }, index) => {
      data.set(matrix.values.subarray(index * matrix.width, index * matrix.width + length), row * placement.width + start);
    });
    return tensor;
  }

  #tensor(shape: readonly number[], values: readonly number[]): Tensor {
    return { type: this.#float, shape, data: this.#float === "float64" ? Float64Array.from(values) : Float32Array.from(values) };
  }

  #empty(shape: readonly number[]): Tensor {
    const size = shape.reduce((product, length) => product * length, 1);
    return { type: this.#float, shape, data: this.#float === "float64" ? new Float64Array(size) : new Float32Array(size) };
  }
}
