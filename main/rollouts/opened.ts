/**
 * What an attempt has opened, closed in reverse on every path. A phase that was given up (cancelled, out of its budget) may still
 * finish opening something when everything is closed already: that is closed at once.
 */
export class Opened {
  readonly #undo: (() => Promise<void> | void)[] = [];
  #closed = false;

  /** Takes over `resource`; rejects when the attempt has ended meanwhile, after closing it. */
  async keep<T>(resource: T, close: (resource: T) => Promise<void> | void): Promise<T> {
    if (this.#closed) {
      await close(resource);
      throw new Error("the attempt had ended when this was opened");
    }
    this.#undo.push(() => close(resource));
    return resource;
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const step of this.#undo.splice(0).toReversed()) {
      try {
        await step();
      } catch (error) {
        // One that fails must not keep the others from being closed; the reaper removes what is left at the next start.
        console.error(error);
      }
    }
  }
}
