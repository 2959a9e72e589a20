import type { ReactNode } from "react";
import { Chip } from "../../../parts/chip.tsx";
import { KeyCaps } from "../../../parts/key-caps.tsx";
import { Facts } from "../../../parts/pane.tsx";
import { decimal, position, probability } from "../../../words/numbers.ts";
import type { TokenAt } from "./chain.ts";
import { tokenLook } from "./layout.ts";
import { gapOf, type Trained } from "./trained.ts";

const width = 296;
/** With the rows of an update. */
const height = 250;
const gap = 6;

/** Beside the token, inside the window: below it where there is room, else above. */
export function cardPlace(
  token: DOMRect,
  window: { readonly width: number; readonly height: number },
): { readonly left: number; readonly top: number } {
  const left = Math.max(gap, Math.min(window.width - width - gap, token.left - width / 3));
  const below = token.bottom + gap;
  return { left, top: below + height < window.height ? below : Math.max(gap, token.top - gap - height) };
}

function maskWords({ position: at, span: { span } }: TokenAt, trained: Trained | null): string {
  const mask = trained === null ? span.mask : trained.mask(at);
  if (mask === 1) return "1, trained";
  return span.kind === "sampled" ? `0, sampled but not trained ${trained === null ? "here" : "in this step"}` : "0, masked";
}

interface TokenCardProps {
  readonly token: TokenAt;
  readonly place: { readonly left: number; readonly top: number };
  readonly pinned: boolean;
  readonly trained: Trained | null;
}

/** What the update saw of the token: its advantage, its log-probability by the trainer, and how far that is from the sampler's. */
function trainedRows(token: TokenAt, trained: Trained): readonly (readonly [string, ReactNode])[] {
  const logprob = trained.trainerLogprob(token.position);
  const gap = gapOf(trained, token.position, token.logprob);
  return [
    ["Advantage", trained.advantage(token.position) === null ? null : decimal(trained.advantage(token.position), 3)],
    ["Trainer", logprob === null ? null : decimal(logprob, 3)],
    ["Ratio", gap === null ? null : decimal(Math.exp(gap), 3)],
  ];
}

/** All that is known of one token. */
export function TokenCard({ token, place, pinned, trained }: TokenCardProps) {
  const { span } = token.span;
  const look = tokenLook(token.text, token.id);
  return (
    <div
      role="tooltip"
      className="pointer-events-none fixed z-20 rounded-3 border border-line-strong bg-raised px-3.25 pt-2.75 pb-2.25 text-xs shadow-2"
      style={{ ...place, width }}
    >
      <div className="mb-2 flex items-center gap-2">
        <code className="max-w-36 truncate text-sm font-strong">
          <span className="text-muted">{look.lead}</span>
          {look.text}
          <span className="text-muted">{look.tail}</span>
        </code>
        <span className="text-2xs text-muted tabular-nums">id {token.id}</span>
        <span className="flex-1" />
        {span.kind === "sampled" ? <Chip tone="sampled">sampled</Chip> : <Chip tone="masked">prompt</Chip>}
      </div>
      <Facts
        labelWidth="5.25rem"
        rows={[
          ["Position", position(token.position)],
          [
            "Log-prob",
            token.logprob === null ? null : (
              <span key="logprob">
                <b>{decimal(token.logprob, 3)}</b> <span className="text-muted">p {probability(token.logprob)}</span>
              </span>
            ),
          ],
          ["Mask", maskWords(token, trained)],
          ...(trained === null ? [] : trainedRows(token, trained)),
          ["Call", span.callIndex + 1],
        ]}
      />
      <div className="mt-2.25 flex items-center gap-1.5 border-t border-line pt-1.75 text-2xs text-muted">
        <KeyCaps value="Enter" /> {pinned ? "let go" : "pin"}
        <span className="w-2" />
        <KeyCaps value="c" /> copy link
      </div>
    </div>
  );
}
