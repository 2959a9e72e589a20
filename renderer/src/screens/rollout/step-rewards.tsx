import { Chip } from "../../parts/chip.tsx";
import type { RolloutDetail, StepView } from "../../service/views.ts";
import { changeRolloutPlace } from "../../state/workspace.ts";
import { reward } from "../../words/numbers.ts";
import { outcomeWords } from "../../words/outcomes.ts";
import { seconds } from "../../words/times.ts";

const columns =
  "grid grid-cols-[1.5rem_minmax(7rem,1fr)_minmax(8rem,12rem)_minmax(5rem,9rem)_6rem_5rem_4.5rem_4.5rem] items-center gap-x-2.5 px-3 narrow:grid-cols-[1.5rem_minmax(6rem,1fr)_minmax(7rem,10rem)_5rem_4rem_4rem] slim:grid-cols-[1.5rem_minmax(6rem,1fr)_minmax(7rem,10rem)_4rem]";

/** Rewards by name where there are several; else the one. */
function Rewards({ rewards, one }: { readonly rewards: StepView["rewards"]; readonly one: number | null }) {
  const named = Object.entries(rewards ?? {});
  const words = named.length > 1 ? named.map(([name, value]) => `${name} ${reward(value)}`).join(", ") : reward(one);
  return (
    <span className="truncate tabular-nums" title={words}>
      {words}
    </span>
  );
}

function StepOutcome({ step }: { readonly step: StepView }) {
  if (step.status !== null) {
    const words = outcomeWords({ status: step.status, cause: step.cause, phase: "ended", calls: step.calls });
    return (
      <Chip tone={words.tone} glyph={words.glyph} cause={words.cause}>
        {words.word}
      </Chip>
    );
  }
  return step.startedAt === null ? (
    <Chip tone="neutral" glyph="queued">
      not begun
    </Chip>
  ) : (
    <Chip tone="running" glyph="running">
      running
    </Chip>
  );
}

function threshold(minReward: StepView["minReward"]): string | null {
  const named = Object.entries(minReward ?? {});
  return named.length === 0
    ? null
    : named.map(([name, value]) => (named.length > 1 ? `${name} ≥ ${reward(value)}` : `≥ ${reward(value)}`)).join(", ");
}

/** Of a task of several steps: what each step earned, what it had to reach, and its calls. */
export function StepRewards({ rollout }: { readonly rollout: RolloutDetail }) {
  return (
    <section aria-label="Steps" className="flex-none border-b border-line text-xs">
      <div className={`${columns} h-row-header border-b border-line bg-header text-2xs font-medium text-muted`}>
        <span />
        <span>Step</span>
        <span>Outcome</span>
        <span>Reward</span>
        <span className="narrow:hidden">To go on</span>
        <span className="slim:hidden">Calls</span>
        <span className="text-right slim:hidden">Agent</span>
        <span className="text-right narrow:hidden">Verifier</span>
      </div>
      <div className="max-h-56 overflow-auto">
        {rollout.steps.map((step, index) => (
          <div key={step.name} className={`${columns} min-h-row border-b py-0.5 border-line last:border-b-0`} data-step={step.name}>
            <span className="text-right text-muted tabular-nums">{index + 1}</span>
            <span className="min-w-0">
              <b className="block truncate font-medium" title={step.name}>
                {step.name}
              </b>
              {step.detail !== null && <span className="block pb-1 text-2xs leading-[0.9375rem] break-words text-muted">{step.detail}</span>}
            </span>
            <span className="flex min-w-0">
              <StepOutcome step={step} />
            </span>
            <Rewards rewards={step.rewards} one={step.reward} />
            <span className="truncate text-muted tabular-nums narrow:hidden">{threshold(step.minReward) ?? "–"}</span>
            <span className="slim:hidden">
              {step.calls === 0 ? (
                <span className="text-muted">none</span>
              ) : (
                <button
                  type="button"
                  className="rounded-1 text-link tabular-nums hover:underline"
                  onClick={() => changeRolloutPlace(rollout.id, { view: "calls", call: step.firstCall + 1 })}
                >
                  {step.firstCall + 1}
                  {step.calls > 1 ? `–${step.firstCall + step.calls}` : ""}
                </button>
              )}
            </span>
            <span className="text-right tabular-nums slim:hidden">{seconds(step.agentSeconds)}</span>
            <span className="text-right tabular-nums narrow:hidden">{seconds(step.verifierSeconds)}</span>
          </div>
        ))}
      </div>
    </section>
  );
}
