/** Made-up rollouts for tests: the calls as a server saw them, and their placement and reconstruction. */
import { createPlacementIndex, type Exclusion, type GraphCall, type GraphNode, type Reconstruction, reconstruct } from "./index.ts";

/** One call of a made-up rollout, as the server saw it. */
export interface ServedCall {
  readonly call: GraphCall;
  readonly prompt: readonly number[];
  readonly sampled: readonly number[];
  readonly logprobs: readonly number[];
}

export function graphCall(index: number, excluded: Exclusion | null, further: Partial<GraphCall> = {}): GraphCall {
  return { id: `call ${index}`, index, excluded, recordedBreak: null, messages: [], answer: null, tools: null, thread: null, ...further };
}

export function place(served: readonly ServedCall[]): GraphNode[] {
  const placements = createPlacementIndex();
  return served.map(({ call, prompt, sampled, logprobs }) => {
    const placed = placements.placeCall({ callId: call.id, promptIds: Int32Array.from(prompt), sampledIds: Int32Array.from(sampled) });
    return { callId: call.id, ...placed, sampledIds: Int32Array.from(sampled), logprobs: Float32Array.from(logprobs) };
  });
}

export function rebuild(served: readonly ServedCall[]): Reconstruction {
  return reconstruct(
    served.map((one) => one.call),
    place(served),
  );
}

/** A rollout of one line. */
export function linear(turns: number, further: (index: number) => Partial<GraphCall> = () => ({})): ServedCall[] {
  const served: ServedCall[] = [];
  let prompt = [1];
  for (let index = 0; index < turns; index++) {
    const sampled = [100 + index, 200 + index];
    served.push({ call: graphCall(index, null, further(index)), prompt, sampled, logprobs: [-1, -1] });
    prompt = [...prompt, ...sampled, 300 + index];
  }
  return served;
}
