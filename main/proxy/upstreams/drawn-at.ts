import type { Sampling } from "../../../engine/conversation/index.ts";
import type { Upstream } from "./upstream.ts";

/**
 * The policy with every answer drawn at one temperature from all tokens, whatever a harness asks for. Training needs it so: its
 * log-probabilities are those of one distribution, and a truncated draw has none that could be differentiated.
 */
export function drawnAt(upstream: Upstream, temperature: number): Upstream {
  return {
    ...upstream,
    async complete({ asWritten: _, ...request }, signal) {
      const { sampling } = request.conversation;
      const { topP: _p, topK: _k, minP: _m, ...rest } = sampling;
      const conversation = { ...request.conversation, sampling: { ...rest, temperature } };
      const result = await upstream.complete({ ...request, conversation }, signal);
      if (!result.ok || !saysOtherwise(sampling, temperature)) return result;
      return {
        ...result,
        notes: [...(result.notes ?? []), `Drawn at temperature ${temperature} from all tokens; what the request says of sampling was set aside.`],
      };
    },
  };
}

function saysOtherwise({ temperature, topP = 1, topK = 0, minP = 0 }: Sampling, drawn: number): boolean {
  return (temperature ?? drawn) !== drawn || topP < 1 || topK > 0 || minP > 0;
}
