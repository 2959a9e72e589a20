import { Chip } from "../../parts/chip.tsx";
import type { RegradeRow } from "../../service/views.ts";
import { reward } from "../../words/numbers.ts";

type Verdict = RegradeRow["before"];
const tones = { passed: "success", failed: "failed", none: "infra" } as const;
const glyphs = { passed: "ok", failed: "fail", none: "infra" } as const;
const words = { passed: "passed", failed: "failed", none: "no verdict" } as const;

/** A verifier's word and the reward that went with it. */
export function VerdictChip({ grade }: { readonly grade: Verdict }) {
  return (
    <span className="flex min-w-0 items-center gap-1.5">
      <Chip tone={tones[grade.verdict]} glyph={glyphs[grade.verdict]}>
        {words[grade.verdict]}
      </Chip>
      <span className="tabular-nums">{reward(grade.reward)}</span>
    </span>
  );
}
