import type { ChainTokens } from "../../engine/graph/index.ts";
import type { Tokenizer } from "../../engine/tokenizers/index.ts";
import type { TokenSpan, Trajectories } from "./contract.ts";

/** A chain for the token view: its tokens in runs of one call, kind and mask. Throws RangeError when there is no such chain. */
export function tokenSpans(trajectories: Trajectories, chain: number, tokenizer: Tokenizer | null): readonly TokenSpan[] {
  const tokens = trajectories.tokensOf(chain);
  const texts = tokenizer === null ? null : textsOf(tokens.ids, tokenizer);
  return tokens.segments.flatMap(({ callIndex, kind, start, end }) =>
    runsOfMask(tokens.mask, start, end).map((run) => ({
      callIndex,
      kind,
      mask: tokens.mask[run.start] === 1 ? 1 : 0,
      ids: Array.from(tokens.ids.subarray(run.start, run.end)),
      texts: texts?.slice(run.start, run.end) ?? null,
      logprobs: kind === "sampled" ? logprobsOf(tokens, run.start, run.end) : null,
    })),
  );
}

interface Run {
  readonly start: number;
  readonly end: number;
}

function runsOfMask(mask: Uint8Array, start: number, end: number): Run[] {
  const runs: Run[] = [];
  let from = start;
  for (let at = start + 1; at <= end; at++) {
    if (at < end && mask[at] === mask[from]) continue;
    runs.push({ start: from, end: at });
    from = at;
  }
  return runs;
}

/** Null when the engine gave none for the whole run. */
function logprobsOf(tokens: ChainTokens, start: number, end: number): (number | null)[] | null {
  const logprobs = Array.from(tokens.logprobs.subarray(start, end), (value) => (Number.isFinite(value) ? value : null));
  return logprobs.every((value) => value === null) ? null : logprobs;
}

/** Text of each token; what the tokenizer does not know, and what was blanked, shows as its number. */
function textsOf(ids: Int32Array, tokenizer: Tokenizer): string[] {
  const known = ids.filter((id) => tokenizer.tokenOf(id) !== undefined);
  const pieces = tokenizer.decodePieces(known);
  let next = 0;
  return Array.from(ids, (id) => (tokenizer.tokenOf(id) === undefined ? `[${id}]` : (pieces[next++] ?? "")));
}
