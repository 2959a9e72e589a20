import type { RowTokens } from "./training-row.ts";

export interface ResponsePart {
  readonly prompt: Int32Array;
  /** From the first trained token to the end; the arrays beside it have its length. */
  readonly response: Int32Array;
  readonly mask: Uint8Array;
  readonly logprobs: Float32Array;
  readonly advantages: Float64Array | null;
}

/** A chain as a prompt and a response: what comes before the first trained token was never trained. */
export function splitAtResponse({ ids, mask, logprobs, advantages }: RowTokens): ResponsePart {
  const first = mask.indexOf(1);
  const at = first < 0 ? ids.length : first;
  return {
    prompt: ids.subarray(0, at),
    response: ids.subarray(at),
    mask: mask.subarray(at),
    logprobs: logprobs.subarray(at),
    advantages: advantages?.subarray(at) ?? null,
  };
}

/** Trainers want a number on every token; where there is none the mask is 0. */
export function finiteOrZero(logprobs: Float32Array): number[] {
  return Array.from(logprobs, (value) => (Number.isFinite(value) ? value : 0));
}
