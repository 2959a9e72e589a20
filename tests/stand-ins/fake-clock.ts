import type { Clock } from "../../main/proxy/index.ts";

/** Time that passes only when it is told to. */
export class FakeClock implements Clock {
  #now = 1_700_000_000_000;
  readonly #waiting: { at: number; action: () => void }[] = [];

  now(): number {
    return this.#now;
  }

  after(ms: number, action: () => void): () => void {
    const entry = { at: this.#now + ms, action };
    this.#waiting.push(entry);
    return () => {
      const index = this.#waiting.indexOf(entry);
      if (index >= 0) this.#waiting.splice(index, 1);
    };
  }

  /** Actions that are still to run. */
  waiting(): number {
    return this.#waiting.length;
  }

  /** Lets time pass, running what falls due on the way, in order. */
  advance(ms: number): void {
    const end = this.#now + ms;
    for (;;) {
      const due = this.#waiting.filter((entry) => entry.at <= end).sort((left, right) => left.at - right.at)[0];
      if (due === undefined) break;
      this.#waiting.splice(this.#waiting.indexOf(due), 1);
      this.#now = due.at;
      due.action();
    }
    this.#now = end;
  }
}
