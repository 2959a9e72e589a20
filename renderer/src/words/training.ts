/** Training runs in words: status, time left, names of configurations. Pure. */
import type { GlyphName } from "../parts/glyphs.tsx";
import type { TrainingRunView } from "../service/views.ts";
import type { Tone } from "./outcomes.ts";
import { clock, span } from "./times.ts";

export interface StatusWords {
  readonly tone: Tone;
  readonly glyph: GlyphName;
  readonly word: string;
}

type Status = TrainingRunView["status"];

const looks: Record<Status, Omit<StatusWords, "word">> = {
  preparing: { tone: "running", glyph: "running" },
  running: { tone: "running", glyph: "running" },
  pausing: { tone: "paused", glyph: "clock" },
  paused: { tone: "paused", glyph: "pause" },
  ended: { tone: "success", glyph: "ok" },
  failed: { tone: "failed", glyph: "fail" },
  cancelled: { tone: "neutral", glyph: "cancelled" },
  interrupted: { tone: "paused", glyph: "warn" },
};

export const isUnderWay = (status: Status): boolean => status === "preparing" || status === "running" || status === "pausing";
export const canGoOn = (status: Status): boolean => status === "paused" || status === "failed" || status === "interrupted";

/** The chip of a run: where it is while it goes on, how it ended when it has. */
export function statusWords({ status, step, steps }: Pick<TrainingRunView, "status" | "step" | "steps">): StatusWords {
  const at = steps > 0 ? `step ${step} of ${steps}` : `step ${step}`;
  const word = status === "running" ? at : status === "preparing" || status === "ended" ? status : `${status} at ${at}`;
  return { ...looks[status], word };
}

/** "2.1 s a step, about 48 m left"; null when nothing can be said yet. */
export function timeLeft({
  status,
  step,
  steps,
  secondsPerStep,
}: Pick<TrainingRunView, "status" | "step" | "steps" | "secondsPerStep">): string | null {
  if (secondsPerStep === null || !isUnderWay(status) || steps <= step) return null;
  const pace = secondsPerStep < 60 ? `${secondsPerStep.toFixed(1)}\u00a0s` : clock(secondsPerStep);
  return `${pace} a step, about ${span(secondsPerStep * (steps - step))} left`;
}
