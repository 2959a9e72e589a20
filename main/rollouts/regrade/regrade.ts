/** Stored rollouts under a changed verifier, one after the other. What cannot be graded is skipped with a sentence, and stops nothing. */
import { WorkbenchError } from "../../errors.ts";
import type { RolloutRecord } from "../../store/index.ts";
import { checkTask, type Task } from "../../tasks/index.ts";
import type { RegradedRollout, RegradeRequest, RolloutServiceOptions } from "../contract.ts";
import { soundTask } from "../preflight.ts";
import type { ProviderChoice } from "../provider-choice.ts";
import { regradeRollout } from "./regrade-rollout.ts";

export async function regrade(
  { store, ownerId, env }: RolloutServiceOptions,
  choice: ProviderChoice,
  { rolloutIds, taskPath, onProgress, signal }: RegradeRequest,
): Promise<readonly RegradedRollout[]> {
  const tasks = new Map<string, Promise<Task>>();
  const taskAt = (path: string): Promise<Task> => {
    const known = tasks.get(path) ?? checkTask(path).then((check) => soundTask(path, check));
    tasks.set(path, known);
    return known;
  };
  // A package that the caller names is the caller's fault.
  if (taskPath !== undefined) await taskAt(taskPath);
  const done: RegradedRollout[] = [];
  for (const id of rolloutIds) {
    signal?.throwIfAborted();
    const rollout = store.rollout(id);
    if (rollout === null) throw new WorkbenchError("not-found", `There is no rollout ${id}.`, "See `openforge runs list`.");
    done.push(await one(rollout));
    const { grade, skipped } = done.at(-1) ?? { grade: null, skipped: null };
    onProgress(`${done.length}/${rolloutIds.length}  ${id}  ${grade === null ? `skipped: ${skipped}` : `reward ${grade.reward ?? "none"}`}`);
  }
  return done;

  async function one(rollout: RolloutRecord): Promise<RegradedRollout> {
    const skip = (skipped: string): RegradedRollout => ({ rollout, grade: null, skipped });
    if (rollout.phase !== "ended") return skip("It has not ended yet.");
    if (rollout.reward === null && rollout.outcome?.status !== "verifier-failure") return skip("Its agent's work was never graded.");
    try {
      const task = await taskAt(taskPath ?? rollout.taskPath);
      if (task.name !== rollout.taskName) return skip(`It is of the task ${rollout.taskName}, not of ${task.name}.`);
      const provider = await choice.of(rollout.sandbox);
      const grade = await regradeRollout(rollout, task, { store, provider, ownerId, env, onProgress, ...(signal === undefined ? {} : { signal }) });
      store.addGrade(grade);
      return { rollout, grade, skipped: null };
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof WorkbenchError)) throw error;
      return skip(`${error.message} ${error.remedy}`);
    }
  }
}
