/**
 * A model with one more output, of sequence type, before all others. ONNX Runtime's Node binding (1.30) copies every fetched output into new
 * memory after a run, preallocated ones too; on a sequence that conversion fails before anything is copied, while the run itself has
 * already written the preallocated outputs. Protocol buffers merge concatenated messages, so the addition is a prefix.
 */
import { elementTypes } from "./element-type.ts";
import { MessageWriter } from "./protobuf.ts";

export const sentinelOutput = "sentinel";

export function prependSentinel(model: Uint8Array): Uint8Array {
  const value = new MessageWriter().text(1, "value_int").integer(3, 0).integer(20, 2);
  const constant = new MessageWriter().text(2, "sentinel_item").text(3, "sentinel_item").text(4, "Constant").message(5, value);
  const sequence = new MessageWriter().text(1, "sentinel_item").text(2, sentinelOutput).text(3, sentinelOutput).text(4, "SequenceConstruct");
  const item = new MessageWriter().message(1, new MessageWriter().integer(1, elementTypes.int64).message(2, new MessageWriter()));
  const type = new MessageWriter().message(4, new MessageWriter().message(1, item));
  const output = new MessageWriter().text(1, sentinelOutput).message(2, type);
  const prefix = new MessageWriter().message(7, new MessageWriter().message(1, constant).message(1, sequence).message(12, output)).finish();
  const bytes = new Uint8Array(prefix.byteLength + model.byteLength);
  bytes.set(prefix);
  bytes.set(model, prefix.byteLength);
  return bytes;
}
