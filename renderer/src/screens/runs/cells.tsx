import { useEffect, useState } from "react";
import { Mini } from "../../parts/chip.tsx";
import { Icon } from "../../parts/icon.tsx";
import type { CallView, ExperimentView, RolloutView } from "../../service/views.ts";
import { plural, plusMinus, reward } from "../../words/numbers.ts";
import { isInfrastructure, type OutcomeStatus, trainableWords } from "../../words/outcomes.ts";
import { clock } from "../../words/times.ts";

export function TrainableCell({ rollout }: { readonly rollout: RolloutView }) {
  const { yes, word } = trainableWords(rollout);
  if (yes === null) return <span className="text-muted">{word}</span>;
  return (
    <span className={yes ? "text-secondary" : ""} title={word}>
      <Icon name={yes ? "check" : "close"} size={0.75} className={`mr-1 inline align-[-2px] ${yes ? "text-success" : "text-muted"}`} />
      {word}
    </span>
  );
}

/** Seconds since an unended rollout began; the clock runs once a second, only while it is in sight. */
export function TimeCell({ rollout }: { readonly rollout: RolloutView }) {
  const running = rollout.phase !== "ended" && rollout.phase !== "queued";
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!running) return;
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [running]);
  const started = rollout.phases.find((phase) => phase.name !== "queued")?.startedAt;
  const value = running && started !== undefined ? Math.max(rollout.seconds ?? 0, (now - started) / 1000) : rollout.seconds;
  return <>{value === null ? <span className="text-muted">–</span> : clock(value)}</>;
}

const parts: readonly { readonly look: string; readonly name: string; readonly count: (outcomes: Readonly<Record<string, number>>) => number }[] = [
  { look: "bg-success", name: "succeeded", count: (outcomes) => outcomes.succeeded ?? 0 },
  { look: "bg-failed", name: "failed", count: (outcomes) => (outcomes.failed ?? 0) + (outcomes["interrupted-for-safety"] ?? 0) },
  { look: "bg-paused", name: "out of time", count: (outcomes) => outcomes["agent-timeout"] ?? 0 },
  {
    look: "bg-infra",
    name: "infrastructure",
    count: (outcomes) => Object.entries(outcomes).reduce((sum, [status, n]) => sum + (isInfrastructure(status as OutcomeStatus) ? n : 0), 0),
  },
  { look: "bg-neutral", name: "cancelled", count: (outcomes) => outcomes.cancelled ?? 0 },
];

/** How many ended how, in the order of the bar. Zero counts are left out. */
export function outcomeParts(
  outcomes: Readonly<Record<string, number>>,
): readonly { readonly look: string; readonly name: string; readonly n: number }[] {
  return parts.map(({ look, name, count }) => ({ look, name, n: count(outcomes) })).filter((part) => part.n > 0);
}

/** The outcomes of an experiment as one bar; the words are in its label. */
export function OutcomeStack({ experiment }: { readonly experiment: ExperimentView }) {
  const ended = outcomeParts(experiment.outcomes);
  const running = experiment.outcomes.running ?? 0;
  const queued = experiment.outcomes.queued ?? 0;
  // Sessions that ended and that nobody has graded.
  const ungraded = Math.max(0, experiment.total - running - queued - ended.reduce((sum, { n }) => sum + n, 0));
  const words = [
    ...ended.map((part) => `${part.n} ${part.name}`),
    ...(running > 0 ? [`${running} running`] : []),
    ...(queued > 0 ? [`${queued} queued`] : []),
    ...(ungraded > 0 ? [`${ungraded} not graded`] : []),
  ].join(", ");
  return (
    <span className="flex h-1.5 gap-px overflow-hidden rounded-[2px]" role="img" aria-label={words} title={words}>
      {ended.map((part) => (
        <i key={part.name} className={`block h-full ${part.look}`} style={{ flex: part.n }} />
      ))}
      {running > 0 && <i className="stripes-running block h-full" style={{ flex: running }} />}
      {queued > 0 && <i className="block h-full bg-line-strong" style={{ flex: queued }} />}
      {ungraded > 0 && <i className="hatch block h-full" style={{ flex: ungraded }} />}
    </span>
  );
}

/** Mean reward with what it rests on. */
export function MeanReward({ reward: { n, mean, low, high } }: { readonly reward: ExperimentView["reward"] }) {
  if (mean === null) return <span className="text-muted">–</span>;
  const interval = n > 1 ? plusMinus(low, high) : null;
  return (
    <span
      title={`mean of ${plural(n, "rollout")} with a reward${low === null || high === null ? "" : `, interval ${reward(low)} to ${reward(high)}`}`}
    >
      {reward(mean)} <span className="font-medium">{interval ?? `n ${n}`}</span>
    </span>
  );
}

/** What was odd about a call, as marks beside its words. */
export function CallMarks({ call }: { readonly call: CallView }) {
  return (
    <>
      {call.status === "error" && (
        <Mini look="failed" glyph="fault" title={call.error ?? undefined}>
          {call.httpStatus}
        </Mini>
      )}
      {call.status === "not-found" && <Mini look="neutral">not a model call</Mini>}
      {call.status === "counted" && <Mini look="neutral">count of tokens</Mini>}
      {call.side !== null && (
        <Mini look="neutral" title="The harness made it beside its main loop: it is not trained.">
          side call: {call.side}
        </Mini>
      )}
      {(call.aborted || call.status === "aborted") && <Mini look="infra">aborted</Mini>}
      {call.status === "partial" && <Mini look="infra">partial</Mini>}
      {call.retries > 0 && (
        <Mini look="infra" glyph="refresh">
          {plural(call.retries, "retry", "retries")}
        </Mini>
      )}
      {call.late && <Mini look="infra">late</Mini>}
      {call.unparsedToolCall && (
        <Mini look="paused" glyph="warn">
          unparsed tool call
        </Mini>
      )}
      {call.finishReason === "length" && (
        <Mini look="paused" glyph="warn">
          cut
        </Mini>
      )}
      {call.quarantined !== null && (
        <Mini look="infra" title={call.quarantined}>
          quarantined
        </Mini>
      )}
      {call.breakCause !== null && (
        <Mini look="accent" glyph="chains" title={`A new chain begins here: ${call.breakCause}`}>
          {call.breakCause}
        </Mini>
      )}
    </>
  );
}
