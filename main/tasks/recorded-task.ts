import { WorkbenchError } from "../errors.ts";
import { checkTask } from "./check-task.ts";
import type { Task } from "./contract.ts";

/** The package that a recording names, if it is still there and unchanged; else null. */
export async function recordedTask(path: string, digest: string): Promise<Task | null> {
  try {
    const { task } = await checkTask(path);
    return task !== null && task.digest === digest ? task : null;
  } catch (error) {
    if (error instanceof WorkbenchError) return null;
    throw error;
  }
}
