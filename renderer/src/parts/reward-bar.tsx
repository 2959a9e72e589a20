import { reward as rewardText } from "../words/numbers.ts";
import { type Phase, timedPhases } from "../words/outcomes.ts";

/** Reward of one rollout: a bar and its number; missing is a dash and no bar. */
export function RewardBar({ reward }: { readonly reward: number | null }) {
  if (reward === null) return <span className="block text-right text-muted">–</span>;
  const share = Math.max(0, Math.min(1, reward));
  return (
    <span className="flex items-center justify-end gap-1.75">
      <span className="flex h-1 w-9 flex-none overflow-hidden rounded-[2px] bg-sunken shadow-[inset_0_0_0_1px_var(--of-border)]">
        <i className="block h-full bg-(--of-reward-5)" style={{ width: `${share * 100}%` }} />
      </span>
      <span className="w-7 text-right tabular-nums">{rewardText(reward)}</span>
    </span>
  );
}

/** How far an unended rollout is: one dash a phase. */
export function PhaseDashes({ phase }: { readonly phase: Phase }) {
  const now = timedPhases.indexOf(phase);
  return (
    <span className="flex items-center justify-end gap-0.5" role="img" aria-label={phase} title={phase}>
      {timedPhases.map((each, index) => (
        <i key={each} className={`h-1 w-1.75 rounded-[1px] ${index < now ? "bg-running" : index === now ? "dashes-running" : "bg-line-strong"}`} />
      ))}
    </span>
  );
}

/** Background and text of a reward, by its step on the scale. */
export function rewardStep(reward: number): { readonly background: string; readonly color: string } {
  const step = Math.round(Math.max(0, Math.min(1, reward)) * 6);
  return { background: `var(--of-reward-${step})`, color: step < 5 ? "var(--of-on-reward-low)" : "var(--of-on-reward-high)" };
}
