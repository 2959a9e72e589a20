/** Token ids and log-probabilities as little-endian blobs. Every machine this runs on is little-endian; a big-endian one is refused at start. */
import { endianness } from "node:os";
import { WorkbenchError } from "../../errors.ts";

export function refuseBigEndian(): void {
  if (endianness() !== "LE")
    throw new WorkbenchError(
      "unavailable",
      "This machine stores numbers big-endian; the store cannot be used here.",
      "Run the workbench on an x86-64 or ARM64 machine.",
    );
}

export function idsToBytes(ids: Int32Array): Uint8Array {
  return new Uint8Array(ids.buffer, ids.byteOffset, ids.byteLength);
}

export function floatsToBytes(values: Float32Array): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}

/** A copy: a blob need not be aligned. */
export function idsOf(bytes: Uint8Array): Int32Array {
  const ids = new Int32Array(bytes.byteLength / Int32Array.BYTES_PER_ELEMENT);
  idsToBytes(ids).set(bytes);
  return ids;
}

export function floatsOf(bytes: Uint8Array): Float32Array {
  const values = new Float32Array(bytes.byteLength / Float32Array.BYTES_PER_ELEMENT);
  floatsToBytes(values).set(bytes);
  return values;
}
