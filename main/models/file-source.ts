import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { type ByteSource, WeightsError } from "../../engine/weights/index.ts";

export interface OpenFile extends ByteSource {
  close(): void;
}

/** A file for the engine's readers; only what is asked for is read. `name`: for messages, and to find the file again. */
export function openFile(path: string, name: string): OpenFile {
  const descriptor = openSync(path, "r");
  const { size } = fstatSync(descriptor);
  return {
    name,
    size,
    read(offset, length) {
      const bytes = new Uint8Array(length);
      let done = 0;
      while (done < length) {
        const count = readSync(descriptor, bytes, done, Math.min(length - done, 1 << 30), offset + done);
        if (count === 0) throw new WeightsError(name, `ends at byte ${offset + done}, where more was to be read: it was changed meanwhile`);
        done += count;
      }
      return bytes;
    },
    close: () => closeSync(descriptor),
  };
}
