/** Binding of arguments to the parameters of built-in functions, and reading them as the type that they need. */
import { TemplateError } from "../template-error.ts";
import { isText, type Text } from "../values/text.ts";
import { type Keywords, typeName, Undefined, type Value } from "../values/values.ts";

/** A parameter without a second entry has to be given. */
export type ParameterSpec = readonly [name: string, fallback?: Value];

/** One value per parameter, in order. Throws TypeError as Python does. */
export function bindArguments(functionName: string, parameters: readonly ParameterSpec[], positional: readonly Value[], keywords: Keywords): Value[] {
  if (positional.length > parameters.length) {
    throw new TemplateError("TypeError", `${functionName}() takes ${parameters.length} positional arguments but ${positional.length} were given`);
  }
  const rest = new Map(keywords);
  const bound = parameters.map(([name, fallback], index) => {
    const given = positional[index] ?? keywords.get(name);
    if (given !== undefined || positional.length > index) {
      if (positional.length > index && rest.has(name))
        throw new TemplateError("TypeError", `${functionName}() got multiple values for argument '${name}'`);
      rest.delete(name);
      return given ?? null;
    }
    if (fallback === undefined) throw new TemplateError("TypeError", `${functionName}() missing 1 required positional argument: '${name}'`);
    return fallback;
  });
  const [unknown] = rest.keys();
  if (unknown !== undefined) throw new TemplateError("TypeError", `${functionName}() got an unexpected keyword argument '${unknown}'`);
  return bound;
}

/** The bound value at a place; `bindArguments` always gives one per parameter. */
export function at(bound: readonly Value[], index: number): Value {
  return bound[index] ?? null;
}

export function asText(value: Value, functionName: string): Text {
  if (isText(value)) return value;
  if (value instanceof Undefined) value.fail();
  throw new TemplateError("TypeError", `${functionName}() argument must be str, not ${typeName(value)}`);
}

/** An int (or bool) as a number that can index. Sizes beyond what can be indexed become the largest that can. */
export function asIndex(value: Value): number {
  if (typeof value === "boolean") return value ? 1 : 0;
  if (typeof value === "bigint") return Number(value > maxIndex ? maxIndex : value < -maxIndex ? -maxIndex : value);
  if (value instanceof Undefined) value.fail();
  throw new TemplateError("TypeError", `'${typeName(value)}' object cannot be interpreted as an integer`);
}

const maxIndex = 2n ** 53n - 1n;
