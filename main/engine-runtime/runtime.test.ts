import { expect, test } from "vitest";
import { cpuKernels, Graph, operations, type Tensor } from "../../engine/onnx/index.ts";
import { openRuntime } from "./index.ts";
import { chooseProvider } from "./providers.ts";

const vector = (data: Float32Array): Tensor => ({ type: "float32", shape: [data.length], data });

function doubling(): Uint8Array {
  const graph = new Graph({ float: "float32", kernels: cpuKernels });
  graph.output("doubled", operations.scale(graph, graph.input("x", "float32", [3]), 2));
  graph.output("squared", operations.multiply(graph, graph.input("x", "float32", [3]), graph.input("x", "float32", [3])));
  return graph.build().bytes;
}

test("runs a model, into new tensors or into given ones", async () => {
  const runtime = await openRuntime({ threads: 1 });
  const session = await runtime.createSession(doubling(), { purpose: "decoding" });
  expect(session.outputNames).toEqual(["doubled", "squared"]);
  const x = vector(Float32Array.of(1, 2, 3));
  const outputs = await session.run({ x });
  expect(outputs.doubled?.data).toEqual(Float32Array.of(2, 4, 6));
  const targets = { doubled: vector(new Float32Array(3)), squared: vector(new Float32Array(3)) };
  await session.runInto({ x }, targets);
  expect(targets.doubled.data).toEqual(Float32Array.of(2, 4, 6));
  expect(targets.squared.data).toEqual(Float32Array.of(1, 4, 9));
  await session.release();
});

test("spares the copy of outputs with this version of the native library", async () => {
  expect((await openRuntime({ threads: 1 })).writesInPlace).toBe(true);
});

test("names the feed that does not fit", async () => {
  const runtime = await openRuntime({ threads: 1 });
  const session = await runtime.createSession(doubling(), { purpose: "training" });
  await expect(session.runInto({ x: vector(new Float32Array(2)) }, { doubled: vector(new Float32Array(3)) })).rejects.toThrow(/\bx\b/);
});

test("says where it runs and why", () => {
  expect(chooseProvider([{ name: "cpu", bundled: true }]).reason).toContain("no other provider");
  const choice = chooseProvider([
    { name: "cpu", bundled: true },
    { name: "webgpu", bundled: true },
    { name: "cuda", bundled: false },
  ]);
  expect(choice.name).toBe("cpu");
  expect(choice.reason).toContain("webgpu is installed and not used");
});
