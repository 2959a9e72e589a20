/** The chains of a rollout as they were sampled: token ids and log-probabilities of the engine that wrote them. */
import type { Store } from "../store/index.ts";
import { rebuildTrajectories } from "../trajectories/index.ts";
import type { ChainRow } from "./batch.ts";

export function sampledRows(store: Store, rolloutId: string): readonly ChainRow[] {
  const trajectories = rebuildTrajectories(store, rolloutId);
  return trajectories.chains
    .filter(({ trainable, trained }) => trainable && trained > 0)
    .map(({ number }) => {
      const { ids, mask, logprobs } = trajectories.tokensOf(number);
      return { rollout: rolloutId, chain: number, ids, mask, logprobs };
    });
}
