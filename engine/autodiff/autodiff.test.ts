import { describe, expect, test } from "vitest";
import { openRuntime } from "../../main/engine-runtime/index.ts";
import { cpuKernels, elementCount, Graph, type Kernels, plainKernels, type Tensor, type Value } from "../onnx/index.ts";
import { seededRandom } from "../statistics/index.ts";
import {
  add,
  CausalMask,
  causalAttention,
  checkpoint,
  divide,
  exponential,
  gatedUnit,
  gatherRows,
  gemm,
  logarithm,
  multiply,
  reshape,
  rmsNorm,
  rotary,
  type Seed,
  subtract,
  sum,
  Tape,
  tokenHead,
  transpose,
  zeroInput,
} from "./index.ts";

const runtime = await openRuntime({ threads: 1 });

/** Parameters by name with their shape; integers are given as data. */
interface Case {
  readonly parameters: Readonly<Record<string, readonly number[]>>;
  readonly integers?: Readonly<Record<string, { readonly shape: readonly number[]; readonly data: readonly number[] }>>;
  /** Range of the random parameters. */
  readonly low?: number;
  build(tape: Tape, value: (name: string) => Value): { readonly outputs: readonly Value[]; readonly seeds?: readonly Seed[] };
}

/** Graph whose objective is Σ coefficient·output (or what `seeds` say), with the gradients of all parameters. */
function model(one: Case, float: "float32" | "float64", kernels: Kernels) {
  const graph = new Graph({ float, kernels });
  const tape = new Tape(graph);
  const values = new Map<string, Value>();
  for (const [name, shape] of Object.entries(one.parameters)) values.set(name, tape.watch(graph.input(name, float, shape)));
  for (const [name, { shape }] of Object.entries(one.integers ?? {})) values.set(name, graph.input(name, "int32", shape));
  const value = (name: string): Value => {
    const found = values.get(name);
    if (found === undefined) throw new Error(`no ${name}`);
    return found;
  };
  const { outputs, seeds } = one.build(tape, value);
  const given = seeds ?? outputs.map((output, index) => ({ value: output, gradient: graph.input(`coefficient_${index}`, float, output.shape) }));
  const gradients = tape.gradients(given);
  for (const name of Object.keys(one.parameters)) {
    const gradient = gradients.of(value(name));
    if (gradient === null) throw new Error(`${name} has no gradient`);
    graph.output(`gradient:${name}`, gradient, "gradient");
  }
  for (const [index, output] of outputs.entries()) graph.output(`output_${index}`, output);
  return graph.build();
}

function randomFeeds(one: Case, float: "float32" | "float64", inputs: readonly Value[]): Record<string, Tensor> {
  const random = seededRandom(5);
  const feeds: Record<string, Tensor> = {};
  for (const { name, shape } of inputs.toSorted((left, right) => left.name.localeCompare(right.name))) {
    const integers = one.integers?.[name];
    if (integers !== undefined) {
      feeds[name] = { type: "int32", shape: integers.shape, data: Int32Array.from(integers.data) };
      continue;
    }
    const low = one.low ?? -1;
    const numbers = Array.from({ length: elementCount(shape) }, () => (name === zeroInput ? 0 : low + random() * (1 - low)));
    const data = float === "float64" ? Float64Array.from(numbers) : Float32Array.from(numbers);
    feeds[name] = { type: float, shape: shape as readonly number[], data };
  }
  return feeds;
}

/** Largest difference between gradients and central differences, over the largest gradient. */
async function differenceError(one: Case): Promise<number> {
  const { bytes, inputs } = model(one, "float64", plainKernels);
  const session = await runtime.createSession(bytes, { purpose: "training" });
  const feeds = randomFeeds(one, "float64", inputs);
  const objective = async (): Promise<number> => {
    const outputs = await session.run(feeds);
    return Object.entries(outputs)
      .filter(([name]) => name.startsWith("output_"))
      .reduce((total, [name, { data }]) => {
        const coefficients = feeds[name.replace("output", "coefficient")]?.data;
        return total + Array.from(data, Number).reduce((part, number, index) => part + number * Number(coefficients?.[index]), 0);
      }, 0);
  };
  const outputs = await session.run(feeds);
  let worst = 0;
  for (const name of Object.keys(one.parameters)) {
    const gradient = Array.from(outputs[`gradient:${name}`]?.data ?? [], Number);
    const largest = Math.max(...gradient.map(Math.abs));
    const data = feeds[name]?.data as Float64Array;
    for (let index = 0; index < data.length; index += Math.max(1, Math.floor(data.length / 12))) {
      const original = data[index] ?? 0;
      const step = 1e-5;
      data[index] = original + step;
      const above = await objective();
      data[index] = original - step;
      const below = await objective();
      data[index] = original;
      worst = Math.max(worst, Math.abs((above - below) / (2 * step) - (gradient[index] ?? 0)) / largest);
    }
  }
  await session.release();
  return worst;
}

/** Largest difference of float32 gradients with fused kernels to the float64 graph's, over the largest value. */
async function fusedError(one: Case): Promise<number> {
  const results = [];
  for (const [float, kernels] of [["float64", plainKernels] as const, ["float32", cpuKernels] as const]) {
    const { bytes, inputs } = model(one, float, kernels);
    const session = await runtime.createSession(bytes, { purpose: "training" });
    results.push(await session.run(randomFeeds(one, float, inputs)));
    await session.release();
  }
  const [exact, fused] = results;
  return Math.max(
    ...Object.entries(exact ?? {}).map(([name, { data }]) => {
      const numbers = Array.from(data, Number);
      const largest = Math.max(...numbers.map(Math.abs));
      return Math.max(...numbers.map((number, index) => Math.abs(number - Number(fused?.[name]?.data[index])))) / largest;
    }),
  );
}

const rotaryCase: Case = {
  parameters: { x: [2, 3, 8] },
  build: (tape, value) => {
    const { graph } = tape;
    const table = (name: string, of: (angle: number) => number) => {
      const numbers = Array.from({ length: 8 }, (_unused, index) => of(Math.floor(index / 2) * (index % 2 === 0 ? 1 : 0.1)));
      return graph.initializer(name, graph.float, [4, 2], {
        data: graph.float === "float64" ? Float64Array.from(numbers) : Float32Array.from(numbers),
      });
    };
    const tables = {
      cosine: table("cosine", Math.cos),
      sine: table("sine", Math.sin),
      negatedSine: table("negated", (angle) => -Math.sin(angle)),
      positions: null,
    };
    return { outputs: [rotary(tape, value("x"), tables)] };
  },
};

const attentionCase = (keepProbabilities: boolean, chunk: number, segments: boolean): Case => ({
  parameters: { queries: [2, 2, 10, 4], keys: [2, 2, 5, 4], values: [2, 2, 5, 4] },
  ...(segments ? { integers: { segments: { shape: [2, 5], data: [0, 0, 0, 1, 1, 0, 1, 1, 1, 1] } } } : {}),
  build: (tape, value) => {
    const mask = new CausalMask(tape.graph, { width: 5, chunk, segments: segments ? value("segments") : null });
    const options = { mask, group: 2, factor: 0.5, keepProbabilities };
    return { outputs: [causalAttention(tape, value("queries"), value("keys"), value("values"), options)] };
  },
});

const headCase = (chunk: number, withEntropy: boolean, rows = 6): Case => ({
  parameters: { hidden: [rows, 3], table: [7, 3] },
  integers: { targets: { shape: [rows], data: Array.from({ length: rows }, (_unused, index) => (index * 3) % 7) } },
  build: (tape, value) => {
    const { graph } = tape;
    const coefficients = {
      logprob: graph.input("coefficient_0", graph.float, [rows, 1]),
      entropy: withEntropy ? graph.input("coefficient_1", graph.float, [rows, 1]) : null,
    };
    const head = tokenHead(tape, value("hidden"), value("table"), value("targets"), { coefficients, withEntropy, chunk, trainsTable: true });
    return { outputs: head.entropy === null ? [head.logprobs] : [head.logprobs, head.entropy], seeds: head.seeds };
  },
});

const cases: Readonly<Record<string, Case>> = {
  "add, broadcast": { parameters: { a: [2, 3], b: [3] }, build: (tape, value) => ({ outputs: [add(tape, value("a"), value("b"))] }) },
  subtract: { parameters: { a: [2, 3], b: [2, 1] }, build: (tape, value) => ({ outputs: [subtract(tape, value("a"), value("b"))] }) },
  "multiply, one value twice": {
    parameters: { a: [2, 3], b: [3] },
    build: (tape, value) => ({ outputs: [multiply(tape, multiply(tape, value("a"), value("b")), value("a"))] }),
  },
  divide: { parameters: { a: [2, 3], b: [2, 3] }, low: 0.5, build: (tape, value) => ({ outputs: [divide(tape, value("a"), value("b"))] }) },
  "exponential and logarithm": {
    parameters: { a: [4] },
    low: 0.5,
    build: (tape, value) => ({ outputs: [exponential(tape, value("a")), logarithm(tape, value("a"))] }),
  },
  sum: { parameters: { a: [2, 3, 2] }, build: (tape, value) => ({ outputs: [sum(tape, exponential(tape, value("a")), [1])] }) },
  "gated unit": { parameters: { gate: [2, 3], up: [2, 3] }, build: (tape, value) => ({ outputs: [gatedUnit(tape, value("gate"), value("up"))] }) },
  "change of layout": {
    parameters: { a: [2, 6] },
    build: (tape, value) => ({ outputs: [exponential(tape, transpose(tape, reshape(tape, value("a"), [2, 3, 2]), [2, 0, 1]))] }),
  },
  "gemm with an addend, in all four transpositions": {
    parameters: { a: [3, 3], b: [3, 3], c: [3] },
    build: (tape, value) => ({
      outputs: [false, true].flatMap((transposeLeft) =>
        [false, true].map((transposeRight) => gemm(tape, value("a"), value("b"), { transposeLeft, transposeRight, factor: 1.5, addend: value("c") })),
      ),
    }),
  },
  "rows of a small table": {
    parameters: { table: [5, 2] },
    integers: { rows: { shape: [4], data: [3, 0, 3, 1] } },
    build: (tape, value) => ({ outputs: [exponential(tape, gatherRows(tape, value("table"), value("rows")))] }),
  },
  "rows of a large table": {
    parameters: { table: [2049, 1] },
    integers: { rows: { shape: [200], data: Array.from({ length: 200 }, (_unused, index) => ((index * 171) % 2049) % 190) } },
    build: (tape, value) => ({ outputs: [exponential(tape, gatherRows(tape, value("table"), value("rows")))] }),
  },
  "root-mean-square norm": {
    parameters: { x: [3, 4], weight: [4] },
    build: (tape, value) => ({ outputs: [rmsNorm(tape, value("x"), value("weight"), 1e-3)] }),
  },
  "rotary embedding": rotaryCase,
  "attention in one chunk": attentionCase(true, 5, false),
  "attention in unequal chunks": attentionCase(true, 2, false),
  "attention, probabilities computed again": attentionCase(false, 2, false),
  "attention inside segments": attentionCase(true, 3, true),
  "token head": headCase(6, false),
  "token head in chunks, with entropy": headCase(4, true),
  checkpoint: {
    parameters: { x: [2, 3], w: [3, 3] },
    build: (tape, value) => {
      const layer = (inner: Tape, x: Value) => exponential(inner, gemm(inner, x, value("w"), { factor: 0.3 }));
      return { outputs: [checkpoint(tape, checkpoint(tape, value("x"), layer), layer)] };
    },
  },
};

describe("float64 gradients against central differences", () => {
  test.each(Object.entries(cases))("%s", async (_name, one) => {
    expect(await differenceError(one)).toBeLessThan(1e-7);
  });
});

describe("float32 gradients with fused kernels against the float64 graph", () => {
  test.each(Object.entries(cases))("%s", async (_name, one) => {
    expect(await fusedError(one)).toBeLessThan(3e-6);
  });
});

test("a value that nothing depends on has no gradient, and untracked operations are not recorded", () => {
  const graph = new Graph({ float: "float32", kernels: cpuKernels });
  const tape = new Tape(graph);
  const [a, b] = ["a", "b"].map((name) => tape.watch(graph.input(name, "float32", [2])));
  if (a === undefined || b === undefined) throw new Error("unreachable");
  const y = exponential(tape, a);
  const gradients = tape.gradients([{ value: y, gradient: graph.constant([1, 1]) }]);
  expect(gradients.of(b)).toBeNull();
  expect(tape.watchedInUse()).toEqual([a]);
});
