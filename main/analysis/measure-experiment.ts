/** Behaviour measures of stored rollouts. Recordings of ended rollouts never change, so what was measured once is kept. */
import { type BehaviourMeasures, behaviourOf, type MeasuredRollout } from "../../engine/behaviour/index.ts";
import type { RolloutRecord, Store } from "../store/index.ts";
import { recordedTask } from "../tasks/index.ts";
import { recordedBehaviour } from "./recorded-behaviour.ts";

export interface AnalysedRollout extends MeasuredRollout {
  readonly rollout: RolloutRecord;
}

/** `requiredTools`: of the rollout's task; empty when it names none. */
export function measureRollout(store: Store, rollout: RolloutRecord, requiredTools: readonly string[]): BehaviourMeasures {
  return behaviourOf(recordedBehaviour(store, rollout, requiredTools));
}

const measuredOfStores = new WeakMap<Store, Map<string, BehaviourMeasures>>();
const keptRollouts = 20_000;

/** Every ended rollout of an experiment, measured; reads the tasks' packages for the tools they require. */
export async function measureExperiment(store: Store, experimentId: string): Promise<readonly AnalysedRollout[]> {
  const ended = store.rolloutsOf(experimentId).filter(({ phase }) => phase === "ended");
  const required = await requiredToolsOf(ended);
  const known = measuredOfStores.get(store) ?? new Map<string, BehaviourMeasures>();
  measuredOfStores.set(store, known);
  const analysed: AnalysedRollout[] = [];
  for (const rollout of ended) {
    // A regraded rollout is another one.
    const key = JSON.stringify([rollout.id, rollout.reward, rollout.outcome?.status]);
    const measures = known.get(key) ?? measureRollout(store, rollout, required.get(rollout.taskPath) ?? []);
    if (known.size >= keptRollouts) known.clear();
    known.set(key, measures);
    analysed.push({ rollout, task: rollout.taskName, measures });
    await yieldToOthers();
  }
  return analysed;
}

/** By path; a package that is gone or broken, and one that changed since, requires nothing that can be told. */
async function requiredToolsOf(rollouts: readonly RolloutRecord[]): Promise<ReadonlyMap<string, readonly string[]>> {
  const tools = new Map<string, readonly string[]>();
  for (const { taskPath, taskDigest } of rollouts) {
    if (tools.has(taskPath)) continue;
    tools.set(taskPath, (await recordedTask(taskPath, taskDigest))?.requiredTools ?? []);
  }
  return tools;
}

/** Measuring reads bodies: the event loop answers calls in between. */
function yieldToOthers(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
