/** Outcome, phase and trainability in the words of the glossary, each with its glyph and its tone. */
import { rolloutViewSchema } from "../../../main/api/rollout-views.ts";
import type { GlyphName } from "../parts/glyphs.tsx";
import type { RolloutView } from "../service/views.ts";

export type OutcomeStatus = NonNullable<RolloutView["status"]>;
export type Phase = RolloutView["phase"];
export type Tone = "success" | "failed" | "paused" | "infra" | "running" | "neutral";

export const phases: readonly Phase[] = rolloutViewSchema.shape.phase.options;
/** The phases that take time, in order: what a progress row is made of. */
export const timedPhases: readonly Phase[] = phases.filter((phase) => phase !== "queued" && phase !== "ended");

const toneOfStatus: Record<OutcomeStatus, Tone> = {
  succeeded: "success",
  failed: "failed",
  "agent-timeout": "paused",
  "environment-failure": "infra",
  "verifier-failure": "infra",
  "harness-failure": "infra",
  "network-failure": "infra",
  cancelled: "neutral",
  "interrupted-for-safety": "failed",
};

const glyphOfStatus: Partial<Record<OutcomeStatus, GlyphName>> = { cancelled: "cancelled", "interrupted-for-safety": "safety" };
const glyphOfTone: Record<Tone, GlyphName> = {
  success: "ok",
  failed: "fail",
  paused: "clock",
  infra: "infra",
  running: "running",
  neutral: "queued",
};

export const isInfrastructure = (status: OutcomeStatus | null): boolean => status !== null && toneOfStatus[status] === "infra";

export interface OutcomeWords {
  readonly tone: Tone;
  readonly glyph: GlyphName;
  readonly word: string;
  readonly cause: string | null;
}

const waitingPhases: readonly Phase[] = ["queued", "preparing", "starting", "setup"];

/** The chip of a rollout: its outcome when it has one, else where it is. */
export function outcomeWords(rollout: Pick<RolloutView, "status" | "cause" | "phase"> & { readonly calls: number }): OutcomeWords {
  if (rollout.status !== null) {
    const tone = toneOfStatus[rollout.status];
    return { tone, glyph: glyphOfStatus[rollout.status] ?? glyphOfTone[tone], word: rollout.status, cause: rollout.cause };
  }
  // A session of an attached program ends without an outcome: a person says how it went.
  if (rollout.phase === "ended") return { tone: "neutral", glyph: "queued", word: "not graded", cause: null };
  const tone: Tone = waitingPhases.includes(rollout.phase) ? "neutral" : "running";
  const atCall = rollout.phase === "running" && rollout.calls > 0 ? `call ${rollout.calls}` : null;
  return { tone, glyph: glyphOfTone[tone], word: rollout.phase, cause: atCall };
}

export interface TrainableWords {
  readonly yes: boolean | null;
  readonly word: string;
}

/** Trainable or not, with the reason when not; before the end there is no answer yet. */
export function trainableWords(rollout: Pick<RolloutView, "trainable" | "trainableReason" | "status" | "phase">): TrainableWords {
  if (rollout.trainable === true) return { yes: true, word: "yes" };
  if (rollout.status === null && rollout.phase !== "ended") return { yes: null, word: rollout.phase === "queued" ? "waiting" : "not ended" };
  return { yes: false, word: rollout.trainableReason ?? (rollout.trainable === false ? "no" : "not rebuilt") };
}

/** What training does with a rollout, as half a sentence. */
export function actionWords(rollout: Pick<RolloutView, "action" | "reward" | "status">): string | null {
  if (rollout.action === "train") return rollout.reward === null ? "trained, no reward" : `trained with ${rollout.reward.toFixed(2)}`;
  if (rollout.action === "mask") return "kept, not trained";
  if (rollout.action === "discard") return "discarded";
  return null;
}
