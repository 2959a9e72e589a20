import { WorkbenchError } from "../errors.ts";
import type { Task } from "./contract.ts";
import { runsOf } from "./task-model.ts";
import { resolveHeaders, resolveVariables, type Variables } from "./variables.ts";

/** Of all values that a run of the task fills in: the sentence on each variable that is not set and has no default. */
export function lackingVariables(task: Task, variables: Variables): readonly string[] {
  const { environment, solutionEnv } = task;
  const tables = [environment.env, solutionEnv, ...runsOf(task).flatMap(({ part }) => [part.verifier.env, part.verifier.box?.env ?? {}])];
  const said = [
    ...tables.flatMap((table) =>
      Object.entries(table).map(
        ([name, value]) =>
          () =>
            resolveVariables({ [name]: value }, variables),
      ),
    ),
    ...environment.mcpServers.map(
      ({ headers }) =>
        () =>
          resolveHeaders(headers, variables),
    ),
  ].flatMap((resolve) => {
    try {
      resolve();
      return [];
    } catch (error) {
      if (error instanceof WorkbenchError) return [error.message];
      throw error;
    }
  });
  return [...new Set(said)];
}
