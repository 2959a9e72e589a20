/** What the peers of the engine's benchmarks are told and answer: a job as JSON on the command line, then a JSON line for each line "go". */

import type { PlanKind } from "./plan.ts";

interface Shared {
  /** Hugging Face folder of the model. */
  readonly folder: string;
  /** Of the adapter on all linear maps; 0 = none, and all weights are trained. */
  readonly rank: number;
  readonly threads: number;
  /** torch.compile; nothing to our own peer. */
  readonly compiled: boolean;
}

export type Job =
  /** A block is a whole step: forward, backward, clipping, AdamW. `plan` says how the engine's peer spends memory. */
  | (Shared & { readonly task: "training"; readonly rows: number; readonly width: number; readonly plan: PlanKind })
  /** A block is `steps` tokens for each lane behind a prompt of `prompt` tokens. */
  | (Shared & { readonly task: "decoding"; readonly lanes: number; readonly prompt: number; readonly steps: number })
  /** A block reads one prompt into an empty cache. */
  | (Shared & { readonly task: "reading"; readonly prompt: number });

export interface BlockResult {
  readonly seconds: number;
  /** Of all threads. */
  readonly processorSeconds: number;
  /** Tokens. */
  readonly units: number;
  /** A number that both peers compute: the loss, or the first logit of the last token. */
  readonly check: number;
}

/** The token at a place of a batch, row by row: the same in both peers. */
export function tokenAt(place: number, vocabularySize: number): number {
  return (place * 7919 + 13) % vocabularySize;
}
