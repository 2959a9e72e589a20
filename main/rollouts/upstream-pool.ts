/** One upstream a policy name, shared by the rollouts that use it and closed when the last of them lets go. */
import type { PolicyRegistry, Upstream } from "../proxy/index.ts";

export interface UpstreamLease {
  readonly upstream: Upstream;
  release(): Promise<void>;
}

export interface UpstreamPool {
  /** Rejects when the policy cannot be resolved; a later call tries again. */
  lease(policy: string): Promise<UpstreamLease>;
}

export function createUpstreamPool(policies: Pick<PolicyRegistry, "resolve">): UpstreamPool {
  const held = new Map<string, { opening: Promise<Upstream>; users: number }>();

  async function release(policy: string): Promise<void> {
    const entry = held.get(policy);
    if (entry === undefined) return;
    entry.users -= 1;
    if (entry.users > 0) return;
    held.delete(policy);
    await (await entry.opening).close();
  }

  return {
    async lease(policy) {
      const entry = held.get(policy) ?? { opening: policies.resolve(policy), users: 0 };
      entry.users += 1;
      held.set(policy, entry);
      try {
        return { upstream: await entry.opening, release: () => release(policy) };
      } catch (error) {
        if (held.get(policy) === entry) held.delete(policy);
        throw error;
      }
    },
  };
}
