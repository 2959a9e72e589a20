/** What one rendering may use, so that no template can hang the service or fill its memory. */
import { TemplateError } from "../template-error.ts";
import { maxTextLength } from "./text.ts";

const defaultLimits = { steps: 5_000_000, textLength: maxTextLength } as const;

/** Macros, callers and recursive loops inside one another. */
const maxDepth = 200;

export class Effort {
  readonly #maxSteps: number;
  readonly #maxTextLength: number;
  #steps = 0;
  #depth = 0;

  constructor(limits: { readonly steps?: number; readonly textLength?: number } = {}) {
    this.#maxSteps = limits.steps ?? defaultLimits.steps;
    this.#maxTextLength = limits.textLength ?? defaultLimits.textLength;
  }

  /** One step is about one node evaluated or one item visited. */
  spend(steps = 1): void {
    this.#steps += steps;
    if (this.#steps > this.#maxSteps)
      throw new TemplateError("LimitError", `the template takes more than ${this.#maxSteps} steps on this conversation`);
  }

  /** To be called before a text of this length is made. */
  spendText(length: number): void {
    this.spend(length >> 6);
    if (length > this.#maxTextLength)
      throw new TemplateError("LimitError", `the template makes a text of more than ${this.#maxTextLength} characters`);
  }

  nested<T>(work: () => T): T {
    if (++this.#depth > maxDepth) throw new TemplateError("LimitError", `macros or loops call one another more than ${maxDepth} deep`);
    try {
      return work();
    } finally {
      this.#depth--;
    }
  }
}
