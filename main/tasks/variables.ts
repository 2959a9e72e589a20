/**
 * Variables in a package's values. `${VAR}` and `${VAR:-default}` are filled in once; every other dollar sign arrives byte for byte.
 * In env tables a variable stands for the whole value, as in Harbor; inside longer text it is left alone (headers: anywhere).
 */
import { WorkbenchError } from "../errors.ts";
import { embeddedTemplate } from "./harbor/mcp-headers.ts";

export type Variables = Readonly<Record<string, string | undefined>>;

const wholeTemplate = /^\$\{([^}:]+)(?::-([\s\S]*))?\}$/;

/** An env table with its variables filled in from `variables`; one that is not set and has no default is a WorkbenchError. */
export function resolveVariables(table: Readonly<Record<string, string>>, variables: Variables): Record<string, string> {
  return Object.fromEntries(
    Object.entries(table).map(([name, value]) => {
      const template = wholeTemplate.exec(value);
      return [name, template === null ? value : valueFor(template[1] ?? "", template[2], variables, name)];
    }),
  );
}

/** Header values: variables anywhere in the text. */
export function resolveHeaders(headers: Readonly<Record<string, string>>, variables: Variables): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      value.replace(embeddedTemplate, (_whole, variable: string, fallback: string | undefined) => valueFor(variable, fallback, variables, name)),
    ]),
  );
}

/** Whether a value holds a variable that stays as it is, because it is only a part of the value. */
export function hasUnfilledVariable(value: string): boolean {
  return !wholeTemplate.test(value) && /\$\{[A-Za-z_][A-Za-z0-9_]*(?::-[^}]*)?\}/.test(value);
}

function valueFor(variable: string, fallback: string | undefined, variables: Variables, place: string): string {
  const value = Object.hasOwn(variables, variable) ? variables[variable] : undefined;
  if (value !== undefined) return value;
  if (fallback !== undefined) return fallback;
  throw new WorkbenchError(
    "task",
    `The task's value ${place} needs the environment variable ${variable}, which is not set.`,
    `Set ${variable} where the workbench is started, or give it a default in task.toml: \${${variable}:-default}.`,
  );
}
