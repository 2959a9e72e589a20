import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { openRuntime } from "../../main/engine-runtime/index.ts";
import { broadcast, cpuKernels, Graph, operations as op, plainKernels, type Tensor, type Value } from "./index.ts";
import { MessageWriter } from "./protobuf.ts";

const runtime = await openRuntime({ threads: 1 });
const matrix = (rows: number, columns: number, data: readonly number[]): Tensor => ({
  type: "float32",
  shape: [rows, columns],
  data: Float32Array.from(data),
});

async function evaluate(build: (graph: Graph) => Value, feeds: Readonly<Record<string, Tensor>>, kernels = cpuKernels): Promise<number[]> {
  const graph = new Graph({ float: "float32", kernels });
  graph.output("y", build(graph));
  const session = await runtime.createSession(graph.build().bytes, { purpose: "training" });
  const { y } = await session.run(feeds);
  await session.release();
  return Array.from(y?.data ?? [], Number);
}

describe("protocol buffers", () => {
  test("varints of any size, negatives in two's complement", () => {
    expect([...new MessageWriter().integer(1, 300).finish()]).toEqual([8, 0xac, 2]);
    expect([...new MessageWriter().integer(1, -1).finish()]).toEqual([8, ...Array(9).fill(0xff), 1]);
    fc.assert(
      fc.property(fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }), (value) => {
        const [, ...bytes] = new MessageWriter().integer(1, value).finish();
        expect(bytes.reduce((sum, byte, index) => sum + BigInt(byte & 127) * 128n ** BigInt(index), 0n)).toBe(BigInt(value));
      }),
    );
  });

  test("nested messages carry their length", () => {
    const inner = new MessageWriter().text(1, "ab");
    expect([...new MessageWriter().message(3, inner).float(2, 1).finish()]).toEqual([26, 4, 10, 2, 97, 98, 21, 0, 0, 0x80, 0x3f]);
  });
});

describe("shapes", () => {
  test("broadcast as NumPy does", () => {
    expect(broadcast([2, 1, 3], [4, 1])).toEqual([2, 4, 3]);
    expect(broadcast(["B", 3], [3])).toEqual(["B", 3]);
    expect(() => broadcast([2], [3])).toThrow("do not broadcast");
  });

  test("a product without a common dimension fails where it is written", () => {
    const graph = new Graph({ float: "float32", kernels: cpuKernels });
    expect(() => op.gemm(graph, graph.input("a", "float32", [2, 3]), graph.input("b", "float32", [4, 5]))).toThrow("no common dimension");
  });
});

describe("operations agree with arithmetic", () => {
  const a = matrix(2, 3, [1, 2, 3, 4, 5, 6]);
  const b = matrix(2, 3, [1, 0, 2, 0, 1, 1]);
  const inputs = (graph: Graph): [Value, Value] => [graph.input("a", "float32", [2, 3]), graph.input("b", "float32", [2, 3])];

  test.each([
    ["fused", cpuKernels],
    ["plain", plainKernels],
  ])("products, transposed and scaled: %s", async (_name, kernels) => {
    const right = await evaluate((graph) => op.matrixProduct(graph, ...inputs(graph), { transposeRight: true, factor: 2 }), { a, b }, kernels);
    expect(right).toEqual([14, 10, 32, 22]);
    const left = await evaluate((graph) => op.matrixProduct(graph, ...inputs(graph), { transposeLeft: true }), { a, b }, kernels);
    expect(left).toEqual([1, 4, 6, 2, 5, 9, 3, 6, 12]);
  });

  test("a product with an addend", async () => {
    const build = (graph: Graph) => op.gemm(graph, ...inputs(graph), { transposeRight: true, factor: 0.5, addend: graph.constant([10, 20]) });
    expect(await evaluate(build, { a, b })).toEqual([13.5, 22.5, 18, 25.5]);
  });

  test("rows that occur twice are added twice", async () => {
    const rows = { type: "int32" as const, shape: [3], data: Int32Array.of(1, 0, 1) };
    const build = (graph: Graph) => {
      const base = op.expand(graph, graph.constant(0), [3, 1]);
      return op.scatterAddRows(graph, base, graph.input("rows", "int32", [3]), graph.input("x", "float32", [3, 1]));
    };
    expect(await evaluate(build, { rows, x: matrix(3, 1, [1, 2, 4]) })).toEqual([2, 5, 0]);
  });

  test("one-hot rows", async () => {
    const rows = { type: "int32" as const, shape: [2], data: Int32Array.of(2, 0) };
    expect(await evaluate((graph) => op.oneHot(graph, graph.input("rows", "int32", [2]), 3), { rows })).toEqual([0, 0, 1, 1, 0, 0]);
  });
});

describe("the finished model", () => {
  test("leaves out what no output needs, and its inputs", () => {
    const graph = new Graph({ float: "float32", kernels: cpuKernels });
    const x = graph.input("x", "float32", [2]);
    op.exponential(graph, graph.input("unused", "float32", [2]));
    graph.output("y", op.negate(graph, x));
    const model = graph.build();
    expect(model.nodeCount).toBe(1);
    expect(model.inputs.map(({ name }) => name)).toEqual(["x"]);
  });

  test("gradients end the node list, results come after them, outputs are named where they are made", async () => {
    const graph = new Graph({ float: "float32", kernels: cpuKernels });
    const x = graph.input("x", "float32", [2]);
    const y = op.exponential(graph, x);
    graph.output("result", op.negate(graph, y));
    graph.output("gradient", op.sigmoid(graph, y), "gradient");
    graph.output("used", y);
    const text = new TextDecoder("latin1").decode(graph.build().bytes);
    const places = ["Exp", "Sigmoid", "Neg", "Identity"].map((operator) => text.indexOf(`"${String.fromCharCode(operator.length)}${operator}`));
    expect(places).toEqual(places.toSorted((left, right) => left - right));
    expect(places.every((place) => place > 0)).toBe(true);
  });

  test("a weight may stay in its file", async () => {
    const { mkdtemp, realpath, rm, writeFile } = await import("node:fs/promises");
    const { tmpdir } = await import("node:os");
    const folder = await realpath(await mkdtemp(`${tmpdir()}/openforge-`));
    await writeFile(`${folder}/weights.bin`, new Uint8Array([9, 9, 9, ...new Uint8Array(Float32Array.of(5, 7).buffer)]));
    const graph = new Graph({ float: "float32", kernels: cpuKernels });
    const weight = graph.initializer("w", "float32", [2], { external: { file: "weights.bin", offset: 3, length: 8 } });
    graph.output("y", op.add(graph, weight, graph.input("x", "float32", [2])));
    const session = await runtime.createSession(graph.build().bytes, { purpose: "training", weightsFolder: folder });
    const { y } = await session.run({ x: { type: "float32", shape: [2], data: Float32Array.of(1, 1) } });
    expect(y?.data).toEqual(Float32Array.of(6, 8));
    await session.release();
    await rm(folder, { recursive: true });
  });
});
