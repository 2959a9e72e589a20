/** Learning rate over the steps of a run. */

export interface Schedule {
  readonly peak: number;
  /** Steps of linear warm-up; the first step has peak/warmUp. */
  readonly warmUp: number;
  readonly shape: "constant" | "linear" | "cosine";
  /** Steps of the run, warm-up included. */
  readonly steps: number;
  /** Rate at the end, as a share of the peak. */
  readonly floor: number;
}

/** Rate of the 0-based step. After the last step it stays at the floor. */
export function learningRate(schedule: Schedule, step: number): number {
  const { peak, warmUp, shape, steps, floor } = schedule;
  if (step < warmUp) return (peak * (step + 1)) / warmUp;
  if (shape === "constant") return peak;
  const progress = Math.min(1, (step - warmUp) / Math.max(1, steps - warmUp));
  const share = shape === "linear" ? 1 - progress : 0.5 * (1 + Math.cos(Math.PI * progress));
  return peak * (floor + (1 - floor) * share);
}
