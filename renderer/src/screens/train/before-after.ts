/** Before and after: the first evaluation of a run beside its last. Pure. */
import type { Estimate, MeasureView, TrainingRunView } from "../../service/views.ts";

export interface BeforeAfterRow {
  readonly name: string;
  readonly definition: string | null;
  readonly before: Estimate;
  readonly after: Estimate;
  readonly unit: MeasureView["unit"];
  /** Whether more is better; null = neither. */
  readonly better: MeasureView["better"];
}

export interface BeforeAfter {
  readonly from: number;
  readonly to: number;
  readonly success: BeforeAfterRow;
  readonly families: readonly BeforeAfterRow[];
  readonly harnesses: readonly BeforeAfterRow[];
  readonly behaviour: readonly BeforeAfterRow[];
}

type Evaluation = TrainingRunView["evaluations"][number];

/** null while there are not two evaluations. */
export function beforeAfter(
  { evaluations }: Pick<TrainingRunView, "evaluations">,
  measures: Readonly<Record<string, MeasureView>>,
): BeforeAfter | null {
  const [first] = evaluations;
  const last = evaluations.at(-1);
  if (first === undefined || last === undefined || last === first) return null;
  const share = { unit: "share", better: "higher", definition: null } as const;
  const rows = (pick: (evaluation: Evaluation) => Record<string, Estimate>): readonly BeforeAfterRow[] => {
    const [was, is] = [pick(first), pick(last)];
    return Object.keys(is).flatMap((name) => {
      const [before, after] = [was[name], is[name]];
      return before === undefined || after === undefined ? [] : [{ name, before, after, ...share }];
    });
  };
  const harnesses = rows((evaluation) => evaluation.harnesses);
  return {
    from: first.step,
    to: last.step,
    success: { name: "success", before: first.success, after: last.success, ...share },
    families: rows((evaluation) => evaluation.families),
    harnesses: harnesses.length > 1 ? harnesses : [],
    behaviour: rows((evaluation) => evaluation.behaviour)
      .filter(({ name }) => name !== "success")
      .map((row) => ({ ...row, ...(measures[row.name] ?? { unit: "count", better: null }) })),
  };
}
