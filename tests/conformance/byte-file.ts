import { readFile } from "node:fs/promises";
import type { ByteSource } from "../../engine/weights/index.ts";

/** A whole file in memory as the engine's byte source; reading outside is a fault of the reader under test. */
export async function byteFile(path: string, name: string): Promise<ByteSource> {
  const bytes = await readFile(path);
  return {
    name,
    size: bytes.byteLength,
    read: (offset, length) => {
      if (offset < 0 || length < 0 || offset + length > bytes.byteLength)
        throw new Error(`read outside the file: ${offset} + ${length} of ${bytes.byteLength}`);
      return bytes.subarray(offset, offset + length);
    },
  };
}
