/** pass@k and pass^k of one task from n rollouts with c successes, as products: n may be thousands. */

function checked(n: number, c: number, k: number): void {
  if (!(k >= 1 && k <= n && c >= 0 && c <= n)) throw new RangeError(`pass@k wants 1 ≤ k ≤ n and 0 ≤ c ≤ n, not n ${n}, c ${c}, k ${k}`);
}

/** C(a, k)/C(n, k) with a ≤ n. */
function choiceRatio(a: number, n: number, k: number): number {
  if (a < k) return 0;
  let ratio = 1;
  for (let index = 0; index < k; index += 1) ratio *= (a - index) / (n - index);
  return ratio;
}

/** Chance that at least one of k rollouts succeeds: 1 − C(n − c, k)/C(n, k). */
export function passAtK(n: number, c: number, k: number): number {
  checked(n, c, k);
  return 1 - choiceRatio(n - c, n, k);
}

/** Chance that all of k rollouts succeed: C(c, k)/C(n, k). */
export function passHatK(n: number, c: number, k: number): number {
  checked(n, c, k);
  return choiceRatio(c, n, k);
}
