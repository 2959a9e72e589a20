import type { ReactNode } from "react";
import type { RolloutView } from "../service/views.ts";
import { type OutcomeWords, outcomeWords, type Tone } from "../words/outcomes.ts";
import type { GlyphName } from "./glyphs.tsx";
import { Icon } from "./icon.tsx";

const toneText: Record<Tone | "sampled" | "masked", string> = {
  success: "text-success",
  failed: "text-failed",
  paused: "text-paused",
  infra: "text-infra",
  running: "text-running",
  neutral: "text-neutral",
  sampled: "text-sampled",
  masked: "text-masked",
};

const chipLook: Record<Tone | "sampled" | "masked", string> = {
  success: "bg-success-tint",
  failed: "bg-failed-tint",
  paused: "bg-paused-tint",
  infra: "bg-infra-tint chip-infra",
  running: "bg-running-tint",
  neutral: "bg-neutral-tint",
  sampled: "bg-sampled-tint",
  masked: "hatch shadow-[inset_0_0_0_1px_var(--of-hatch)]",
};

interface ChipProps {
  readonly tone: Tone | "sampled" | "masked";
  readonly glyph?: GlyphName;
  readonly children: ReactNode;
  readonly cause?: string | null;
}

/** Glyph and glossary word on a tint, the cause after a dot. Not a button. */
export function Chip({ tone, glyph, children, cause = null }: ChipProps) {
  return (
    <span className={`chip ${toneText[tone]} ${chipLook[tone]} ${glyph === undefined ? "pl-1.5!" : ""} ${cause === null ? "" : "chip-folds"}`}>
      <span className="flex min-w-0 flex-none items-center gap-1">
        {glyph !== undefined && <Icon name={glyph} size={0.8125} weight={1.6} />}
        <span className="truncate">{children}</span>
      </span>
      {cause !== null && <span className="chip-cause">· {cause}</span>}
    </span>
  );
}

export function OutcomeChip({ rollout }: { readonly rollout: Pick<RolloutView, "status" | "cause" | "phase"> & { readonly calls: number } }) {
  const words: OutcomeWords = outcomeWords(rollout);
  return (
    <Chip tone={words.tone} glyph={words.glyph} cause={words.cause}>
      {words.word}
    </Chip>
  );
}

const miniLook = {
  failed: "text-failed bg-failed-tint",
  infra: "text-infra bg-infra-tint",
  paused: "text-paused bg-paused-tint",
  accent: "text-accent bg-accent-tint",
  neutral: "text-neutral bg-neutral-tint",
  edited: "text-edited bg-edited-tint",
} as const;

/** A small mark inside a row: what was odd about a call. */
export function Mini({
  look,
  glyph,
  children,
  title,
}: {
  readonly look: keyof typeof miniLook;
  readonly glyph?: GlyphName;
  readonly children: ReactNode;
  readonly title?: string | undefined;
}) {
  return (
    <span className={`mini ${miniLook[look]}`} title={title}>
      {glyph !== undefined && <Icon name={glyph} size={0.625} weight={1.6} />}
      {children}
    </span>
  );
}
