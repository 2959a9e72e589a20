/**
 * Which provider runs the rollouts of a kind: the kind's own, or its fallback where this machine cannot have it. Asked when an experiment
 * begins, and kept for its rollouts. What was isolated once is never run without isolation afterwards.
 */
import { WorkbenchError } from "../errors.ts";
import type { SandboxKind, SandboxProvider } from "../sandboxes/index.ts";

/** Told with every experiment that is run so. */
export const notIsolated =
  "Nothing is isolated on this machine (`openforge doctor` says why): react runs only commands of its allow-list, in folders of their own.";

export interface ProviderChoice {
  /** Asks the machine anew. Rejects when neither the kind nor its fallback can be had. */
  require(kind: SandboxKind): Promise<SandboxProvider>;
  /** As last asked. */
  of(kind: SandboxKind): Promise<SandboxProvider>;
}

export function createProviderChoice(providers: Readonly<Record<SandboxKind, SandboxProvider>>): ProviderChoice {
  const chosen = new Map<SandboxKind, SandboxProvider>();
  const asking = new Map<SandboxKind, Promise<SandboxProvider>>();

  /** Many rollouts may begin at once: they share one answer. */
  function require(kind: SandboxKind): Promise<SandboxProvider> {
    const asked = asking.get(kind) ?? ask(kind).finally(() => asking.delete(kind));
    asking.set(kind, asked);
    return asked;
  }

  async function ask(kind: SandboxKind): Promise<SandboxProvider> {
    const provider = providers[kind];
    const { ready, detail, remedy } = await provider.probe();
    if (ready) {
      chosen.set(kind, provider);
      return provider;
    }
    const { fallback } = provider;
    if (fallback !== undefined && chosen.get(kind) !== provider && (await fallback.probe()).ready) {
      chosen.set(kind, fallback);
      return fallback;
    }
    throw new WorkbenchError("unavailable", `The ${kind} sandbox cannot be used: ${detail.replace(/\.$/, "")}.`, remedy ?? "See `openforge doctor`.");
  }

  return { require, of: async (kind) => chosen.get(kind) ?? require(kind) };
}
