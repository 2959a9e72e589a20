/** Where wall time went: how long each part was busy (parts overlap), and how long none was. */
import type { SecondsView } from "../api/training-views.ts";
import { isModelCall, type RolloutRecord, type Store } from "../store/index.ts";

/** Unix milliseconds, from ≤ to. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

export interface BusySpans {
  readonly sampling: readonly Span[];
  readonly sandbox: readonly Span[];
  readonly training: readonly Span[];
  readonly evaluation: readonly Span[];
}

export const noSeconds: SecondsView = { total: 0, sampling: 0, sandbox: 0, training: 0, evaluation: 0, idle: 0, engine: 0 };

/** Idle is what neither policy, sandboxes nor trainer were at. */
export function busySeconds(window: Span, { sampling, sandbox, training, evaluation }: BusySpans): SecondsView {
  const busy = (spans: readonly Span[]): number => covered(window, spans) / 1000;
  const total = (window.to - window.from) / 1000;
  return {
    total,
    sampling: busy(sampling),
    sandbox: busy(sandbox),
    training: busy(training),
    evaluation: busy(evaluation),
    idle: total - busy([...sampling, ...sandbox, ...training]),
    engine: busy([...sampling, ...training]),
  };
}

export function addSeconds(left: SecondsView, right: SecondsView): SecondsView {
  return {
    total: left.total + right.total,
    sampling: left.sampling + right.sampling,
    sandbox: left.sandbox + right.sandbox,
    training: left.training + right.training,
    evaluation: left.evaluation + right.evaluation,
    idle: left.idle + right.idle,
    engine: left.engine + right.engine,
  };
}

/** Milliseconds of the window that the spans cover together. */
function covered({ from, to }: Span, spans: readonly Span[]): number {
  const inside = spans
    .map((span) => ({ from: Math.max(from, span.from), to: Math.min(to, span.to) }))
    .filter((span) => span.to > span.from)
    .toSorted((left, right) => left.from - right.from);
  let sum = 0;
  let reached = from;
  for (const span of inside) {
    sum += Math.max(0, span.to - Math.max(span.from, reached));
    reached = Math.max(reached, span.to);
  }
  return sum;
}

/** A rollout's time with the policy, and the rest of it: its sandbox, its harness and its verifier. */
export function rolloutSpans(store: Store, rollout: RolloutRecord): Pick<BusySpans, "sampling" | "sandbox"> {
  const sampling = store
    .callsOf(rollout.id)
    .filter(isModelCall)
    .map(({ startedAt, endedAt }) => ({ from: startedAt, to: endedAt }));
  if (rollout.startedAt === null) return { sampling, sandbox: [] };
  const sandbox: Span[] = [];
  let from = rollout.startedAt;
  for (const call of sampling.toSorted((left, right) => left.from - right.from)) {
    if (call.from > from) sandbox.push({ from, to: call.from });
    from = Math.max(from, call.to);
  }
  const end = rollout.endedAt ?? Date.now();
  if (end > from) sandbox.push({ from, to: end });
  return { sampling, sandbox };
}
