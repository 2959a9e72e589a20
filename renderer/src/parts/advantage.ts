/** Advantages on the diverging scale: below 0 ochre, above 0 blue. Pure. */

/** −3 … 3. The scale ends at the largest advantage in sight. */
export function advantageStep(advantage: number, largest: number): number {
  if (largest <= 0 || advantage === 0) return 0;
  return Math.sign(advantage) * Math.max(1, Math.ceil(Math.min(1, Math.abs(advantage) / largest) * 3 - 1e-9));
}

const stepName = (step: number): string => (step === 0 ? "zero" : `${step < 0 ? "neg" : "pos"}-${Math.abs(step)}`);

export const advantageInk = (step: number): string => `var(--of-delta-${stepName(step)})`;
/** Class of a token, see tokens-view.css. */
export const advantageClass = (step: number): string => `delta-${stepName(step)}`;
