import type { ExecRequest } from "./contract.ts";

export type OutputStream = "stdout" | "stderr";

/** Keeps the first bytes of each stream, hands them on as they come, and counts the rest. */
export class KeptOutput {
  droppedBytes = 0;
  /** Grows with every chunk: tells "quiet" from "still talking". */
  chunks = 0;
  readonly #limit: number;
  readonly #onOutput: ExecRequest["onOutput"];
  readonly #kept: Record<OutputStream, Buffer[]> = { stdout: [], stderr: [] };
  readonly #left: Record<OutputStream, number>;

  constructor(limitBytes: number, onOutput: ExecRequest["onOutput"]) {
    this.#limit = Math.max(0, limitBytes);
    this.#onOutput = onOutput;
    this.#left = { stdout: this.#limit, stderr: this.#limit };
  }

  push(stream: OutputStream, chunk: Buffer): void {
    this.chunks += 1;
    const kept = chunk.length <= this.#left[stream] ? chunk : chunk.subarray(0, this.#left[stream]);
    this.droppedBytes += chunk.length - kept.length;
    if (kept.length === 0) return;
    this.#left[stream] -= kept.length;
    this.#kept[stream].push(kept);
    this.#onOutput?.(stream, kept);
  }

  bytes(stream: OutputStream): Uint8Array {
    return Buffer.concat(this.#kept[stream]);
  }
}
