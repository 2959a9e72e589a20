/** Names and their values: each block sees what is outside it, and what it sets stays inside. */
import { Undefined, type Value } from "./values.ts";

export class Scope {
  readonly #names = new Map<string, Value>();
  readonly #outer: Scope | null;

  /** `unset`: names that are undefined here until they are set, whatever stands outside (see frame-names.ts). */
  constructor(outer: Scope | null, unset: readonly string[] = []) {
    this.#outer = outer;
    for (const name of unset) this.#names.set(name, undefinedName(name));
  }

  find(name: string): Value | undefined {
    const own = this.#names.get(name);
    return own !== undefined ? own : this.#outer?.find(name);
  }

  set(name: string, value: Value): void {
    this.#names.set(name, value);
  }
}

export function undefinedName(name: string): Undefined {
  return new Undefined(`'${name}' is undefined`);
}
