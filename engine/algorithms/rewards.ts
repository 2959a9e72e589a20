/** What happens to a rollout's reward before advantages are taken. */

/** DAPO's overlong shaping: 0 up to the buffer, then falling linearly to −factor at the limit and beyond. Lengths in tokens. */
export function overlongPenalty(length: number, settings: { readonly limit: number; readonly buffer: number; readonly factor: number }): number {
  return Math.min((-(length - (settings.limit - settings.buffer)) / settings.buffer) * settings.factor, 0);
}

/** r_t = γ^(T−t)·r_T for the calls t = 1…T of a rollout. */
export function rewardOverCalls(reward: number, calls: number, gamma: number): Float64Array {
  return Float64Array.from({ length: calls }, (_unused, index) => gamma ** (calls - 1 - index) * reward);
}
