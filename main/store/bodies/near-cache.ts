/** The last body put under each `near` key, within a limit of memory. */
import { type Plan, planBody, type WrittenBody } from "./similar.ts";

const mostBytes = 64 * 1024 * 1024;

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
      if (this.#bytes <= mostBytes) break;
      this.#last.delete(oldest);
      this.#bytes -= bytes.length;
    }
  }
}
