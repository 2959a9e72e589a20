/** How far the steps of a rollout have come, written as they go. A task of one step has no track. */

import type { AgentFacts } from "../../engine/outcome/index.ts";
import { classifyOutcome, isPolicysDoing } from "../../engine/outcome/index.ts";
import type { RolloutRecord, StepRecord, Store } from "../store/index.ts";
import type { Task } from "../tasks/index.ts";
import { stepsEndAfter, type VerifierResult } from "../verifiers/index.ts";

interface StepTrack {
  begin(index: number): void;
  agentEnded(index: number, seconds: number): void;
  /** True = the next step may begin. */
  graded(index: number, agent: AgentFacts, verdict: VerifierResult): boolean;
}

interface StepTrackOptions {
  readonly store: Store;
  readonly rollout: Pick<RolloutRecord, "id">;
  readonly attempt: number;
  readonly task: Task;
}

export function trackSteps({ store, rollout, attempt, task }: StepTrackOptions): StepTrack {
  const steps: StepRecord[] = task.steps.map(({ name, minReward }) => ({
    ...{ name, minReward, outcome: null, reward: null, rewards: null, firstCall: 0, calls: 0 },
    ...{ startedAt: null, agentSeconds: null, verifierSeconds: null },
  }));
  const calls = (): number => store.callsOf(rollout.id, attempt).length;

  function change(index: number, change: Partial<StepRecord>): void {
    const step = steps[index];
    if (step === undefined) return;
    steps[index] = { ...step, ...change };
    store.updateRollout(rollout.id, { steps: [...steps] });
  }

  return {
    begin: (index) => change(index, { startedAt: Date.now(), firstCall: calls() }),
    agentEnded: (index, seconds) => change(index, { agentSeconds: seconds, calls: calls() - (steps[index]?.firstCall ?? 0) }),
    graded(index, agent, verdict) {
      // The rules only decide what training does with a whole rollout.
      const rules = { preset: "default", discardTimeouts: false } as const;
      const { status, cause, detail } = classifyOutcome({ cancelled: false, stop: null, agent, verdict }, rules);
      const outcome = { status, cause, detail };
      change(index, { outcome, reward: verdict.reward, rewards: verdict.rewards, verifierSeconds: verdict.seconds });
      return isPolicysDoing(outcome) && stepsEndAfter(task, index, verdict) === null;
    },
  };
}
