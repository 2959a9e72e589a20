/**
 * Docker's multiplexed stream (exec without a terminal): frames of an 8-byte head [stream, 0, 0, 0, length as u32 big endian] and a
 * payload. Packets of the connection cut frames anywhere and join several; the state lives between packets.
 */
import type { OutputStream } from "../kept-output.ts";

const headBytes = 8;

export class FrameReader {
  readonly #sink: (stream: OutputStream, payload: Buffer) => void;
  #head = Buffer.alloc(0);
  #left = 0;
  #stream: OutputStream = "stdout";

  constructor(sink: (stream: OutputStream, payload: Buffer) => void) {
    this.#sink = sink;
  }

  push(packet: Buffer): void {
    let rest = packet;
    while (rest.length > 0) {
      if (this.#left > 0) {
        const payload = rest.subarray(0, this.#left);
        this.#left -= payload.length;
        rest = rest.subarray(payload.length);
        this.#sink(this.#stream, payload);
        continue;
      }
      const wanted = headBytes - this.#head.length;
      this.#head = Buffer.concat([this.#head, rest.subarray(0, wanted)]);
      rest = rest.subarray(wanted);
      if (this.#head.length < headBytes) return;
      this.#stream = this.#head[0] === 2 ? "stderr" : "stdout";
      this.#left = this.#head.readUInt32BE(4);
      this.#head = Buffer.alloc(0);
    }
  }
}
