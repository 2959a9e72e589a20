/** The last body put under each `near` key, of the keys used last, within a limit of memory. */
import { type Plan, planBody, type WrittenBody } from "./similar.ts";

const mostBytes = 64 * 1024 * 1024;
/** More than are written to at once; what ended is soon pushed out by what runs. */
const mostKeys = 256;

export class NearCache {
  readonly #last = new Map<string, WrittenBody & { readonly journal: number }>();
  #bytes = 0;

  plan(key: string | undefined, journal: number, bytes: Uint8Array): Plan {
    const last = key === undefined ? undefined : this.#last.get(key);
    return planBody(bytes, last === undefined || last.journal !== journal ? null : last);
  }

  remember(key: string | undefined, journal: number, body: WrittenBody): void {
    if (key === undefined) return;
    this.#bytes += body.bytes.length - (this.#last.get(key)?.bytes.length ?? 0);
    this.#last.delete(key);
    this.#last.set(key, { ...body, journal });
    for (const [oldest, { bytes }] of this.#last) {
      if (this.#bytes <= mostBytes && this.#last.size <= mostKeys) break;
      this.#last.delete(oldest);
      this.#bytes -= bytes.length;
    }
  }
}
