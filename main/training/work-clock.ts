/** When the trainer was busy. */
import type { Span } from "./busy-time.ts";

export class WorkClock {
  readonly #spans: Span[] = [];

  async during<T>(work: () => Promise<T>): Promise<T> {
    const from = Date.now();
    try {
      return await work();
    } finally {
      this.#spans.push({ from, to: Date.now() });
    }
  }

  get spans(): readonly Span[] {
    return this.#spans;
  }

  /** What ended before is told of no more. */
  forgetBefore(at: number): void {
    const kept = this.#spans.filter(({ to }) => to > at);
    this.#spans.splice(0, this.#spans.length, ...kept);
  }
}
