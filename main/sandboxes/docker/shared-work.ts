/** Work that several ask for at once is done once; each hears its progress, and it is stopped only when the last one has lost interest. */
interface Running<T> {
  readonly result: Promise<T>;
  readonly listeners: Set<(line: string) => void>;
  readonly stop: AbortController;
}

export class SharedWork<T> {
  readonly #running = new Map<string, Running<T>>();

  async share(
    key: string,
    report: (line: string) => void,
    signal: AbortSignal | undefined,
    work: (report: (line: string) => void, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    signal?.throwIfAborted();
    const running = this.#running.get(key) ?? this.#start(key, work);
    running.listeners.add(report);
    let leave: (() => void) | undefined;
    try {
      if (signal === undefined) return await running.result;
      const left = new Promise<never>((_, reject) => {
        leave = () => reject(signal.reason);
        signal.addEventListener("abort", leave, { once: true });
      });
      return await Promise.race([running.result, left]);
    } finally {
      if (leave !== undefined) signal?.removeEventListener("abort", leave);
      running.listeners.delete(report);
      if (running.listeners.size === 0 && this.#forget(key, running)) {
        running.stop.abort(new Error("nobody waits for it any more"));
      }
    }
  }

  #start(key: string, work: (report: (line: string) => void, signal: AbortSignal) => Promise<T>): Running<T> {
    const listeners = new Set<(line: string) => void>();
    const stop = new AbortController();
    const tell = (line: string): void => {
      for (const listener of listeners) listener(line);
    };
    const running = { result: work(tell, stop.signal), listeners, stop };
    this.#running.set(key, running);
    const forget = (): boolean => this.#forget(key, running);
    running.result.then(forget, forget);
    return running;
  }

  /** True when it was still running under this key. */
  #forget(key: string, running: Running<T>): boolean {
    return this.#running.get(key) === running && this.#running.delete(key);
  }
}
