/** What the built-in functions of the language need of the evaluator. */
import type { Effort } from "../values/limits.ts";
import type { Keywords, Value } from "../values/values.ts";

export interface Runtime {
  readonly effort: Effort;
  readonly now: Date;
  /** `object.name`. */
  attribute(object: Value, name: string): Value;
  /** `object[index]`. */
  item(object: Value, index: Value): Value;
  filter(name: string, subject: Value, positional: readonly Value[], keywords: Keywords): Value;
  test(name: string, subject: Value, positional: readonly Value[], keywords: Keywords): boolean;
}

/** A filter, test, method or global function: the subject, if any, is the first value. */
export type Builtin = (runtime: Runtime, positional: readonly Value[], keywords: Keywords) => Value;
