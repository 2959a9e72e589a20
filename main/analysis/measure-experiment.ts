/** Behaviour measures of stored rollouts. Recordings of ended rollouts never change, so what was measured once is kept. */
import { type BehaviourMeasures, behaviourOf, type MeasuredRollout } from "../../engine/behaviour/index.ts";
import type { RolloutRecord, Store } from "../store/index.ts";
import { recordedTask } from "../tasks/index.ts";
import { recordedBehaviour, type TaskTools } from "./recorded-behaviour.ts";

export interface AnalysedRollout extends MeasuredRollout {
  readonly rollout: RolloutRecord;
}

/** `requiredTools`: of the rollout's task; empty when it names none. */
export function measureRollout(store: Store, rollout: RolloutRecord, requiredTools: readonly string[]): BehaviourMeasures {
  return behaviourOf(recordedBehaviour(store, rollout, { requiredTools, servers: [] }));
}

const measuredOfStores = new WeakMap<Store, Map<string, BehaviourMeasures>>();
const keptRollouts = 20_000;

/** Every ended rollout of an experiment, measured; reads the tasks' packages for the tools they require. */
export async function measureExperiment(store: Store, experimentId: string): Promise<readonly AnalysedRollout[]> {
  const known = measuredOfStores.get(store) ?? new Map<string, BehaviourMeasures>();
  measuredOfStores.set(store, known);
  const tasks = new Map<string, TaskTools>();
  const analysed: AnalysedRollout[] = [];
  for (const rollout of store.rolloutsOf(experimentId).filter(({ phase }) => phase === "ended")) {
    // A regraded rollout is another one.
    const key = JSON.stringify([rollout.id, rollout.reward, rollout.outcome?.status]);
    let measures = known.get(key);
    if (measures === undefined) {
      const { taskPath, taskDigest } = rollout;
      const task = tasks.get(taskPath) ?? (await toolsOfTask(taskPath, taskDigest));
      tasks.set(taskPath, task);
      measures = behaviourOf(recordedBehaviour(store, rollout, task));
      if (known.size >= keptRollouts) known.clear();
      known.set(key, measures);
      await yieldToOthers();
    }
    analysed.push({ rollout, task: rollout.taskName, measures });
  }
  return analysed;
}

/** A package that is gone or broken, and one that changed since, requires nothing that can be told. */
async function toolsOfTask(path: string, digest: string): Promise<TaskTools> {
  const task = await recordedTask(path, digest);
  return { requiredTools: task?.requiredTools ?? [], servers: task?.environment.mcpServers.map(({ name }) => name) ?? [] };
}

/** Measuring reads bodies: the event loop answers calls in between. */
function yieldToOthers(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
