/**
 * Whether outputs of this native library are written in place: both that preallocated outputs hold the result, and that a key/value cache
 * that is fed and fetched as one array is updated where it lies. What fails here is not an error: outputs are then copied.
 */
import { cpuKernels, Graph, type Session, type Tensor } from "../../engine/onnx/index.ts";

const headSize = 16;
const capacity = 4;

/** One head of attention over a cache: what decoding relies on. */
function cacheModel(): Uint8Array {
  const graph = new Graph({ float: "float32", kernels: cpuKernels });
  const row = graph.input("row", "float32", [1, 1, headSize]);
  const shape = [1, 1, capacity, headSize];
  const past = ["past_keys", "past_values"].map((name) => graph.input(name, "float32", shape));
  const lengths = [graph.input("last_index", "int32", [1]), graph.input("total", "int32", [])];
  const float = "float32" as const;
  const [attended, keys, values] = graph.nodes(
    "GroupQueryAttention",
    [row, row, row, ...past, ...lengths],
    [
      { type: float, shape: [1, 1, headSize] },
      { type: float, shape },
      { type: float, shape },
    ],
    { domain: "com.microsoft", attributes: { num_heads: 1, kv_num_heads: 1 } },
  );
  if (attended === undefined || keys === undefined || values === undefined) throw new Error("the attention node has three outputs");
  graph.output("attended", attended);
  graph.output("keys", keys);
  graph.output("values", values);
  return graph.build().bytes;
}

export async function outputsAreWrittenInPlace(open: (model: Uint8Array) => Promise<Session>): Promise<boolean> {
  try {
    const session = await open(cacheModel());
    const tensor = (data: Float32Array | Int32Array, shape: readonly number[]): Tensor => ({
      type: data instanceof Int32Array ? "int32" : "float32",
      shape,
      data,
    });
    const cache = () => tensor(new Float32Array(capacity * headSize), [1, 1, capacity, headSize]);
    const [keys, values] = [cache(), cache()];
    const attended = tensor(new Float32Array(headSize), [1, 1, headSize]);
    for (const position of [0, 1]) {
      const row = tensor(new Float32Array(headSize).fill(position + 1), [1, 1, headSize]);
      const lengths = { last_index: tensor(Int32Array.of(position), [1]), total: tensor(Int32Array.of(position + 1), []) };
      await session.runInto({ row, past_keys: keys, past_values: values, ...lengths }, { attended, keys, values });
    }
    await session.release();
    // Two rows of ones and twos; the attention of the second leans to the twos and lies between.
    const stored = [0, 1].every((position) => keys.data[position * headSize] === position + 1 && values.data[position * headSize] === position + 1);
    const mixed = Number(attended.data[0]);
    return stored && mixed > 1.5 && mixed <= 2;
  } catch (error) {
    if (error instanceof Error) return false;
    throw error;
  }
}
