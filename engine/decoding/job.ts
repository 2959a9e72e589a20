/** A request on its way: what has been read and sampled, and whom to tell. */
import type { Generation, GenerationRequest } from "./generator.ts";
import { StopCondition } from "./stop-condition.ts";

export interface Job {
  readonly request: GenerationRequest;
  readonly stop: StopCondition;
  readonly random: () => number;
  readonly ids: number[];
  readonly logprobs: number[];
  /** Tokens of the prompt whose keys and values are in the lane, and how many of them were there already. */
  read: number;
  reused: number;
  readonly signal: AbortSignal | null;
  readonly resolve: (generation: Generation) => void;
  readonly reject: (reason: unknown) => void;
}

export function newJob(
  request: GenerationRequest,
  maxTokens: number,
  random: () => number,
  listener: Pick<Job, "resolve" | "reject" | "signal">,
): Job {
  return { request, stop: new StopCondition({ ...request.stop, maxTokens }), random, ids: [], logprobs: [], read: 0, reused: 0, ...listener };
}
