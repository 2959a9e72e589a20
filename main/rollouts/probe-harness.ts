/**
 * Does a harness reach its model, and do its requests grow from each other? One rollout of a task that ends after one command, with a
 * scripted policy, through everything that a real rollout goes through; its records are removed again.
 */
import { join } from "node:path";
import type { CaptureLevel } from "../../engine/conversation/index.ts";
import { experimentSpecSchema } from "../api/experiment-views.ts";
import type { SandboxKind } from "../sandboxes/index.ts";
import type { CallRecord, RolloutRecord, Store } from "../store/index.ts";
import type { RolloutService } from "./contract.ts";

export interface HarnessProbe {
  readonly ok: boolean;
  /** One sentence: what arrived, or what the program said last. */
  readonly detail: string;
  /** Of the call that arrived; null when none did. */
  readonly capture: CaptureLevel | null;
  readonly version: string;
  readonly seconds: number | null;
  /** Every request began with the one before and its answer, token for token; null = there was only one. */
  readonly extends: boolean | null;
}

export interface ProbeParts {
  readonly store: Store;
  readonly rollouts: RolloutService;
  /** Folder with `task/` and `policy.yaml`. */
  readonly probeFolder: string;
}

/** Installs the harness when it must; a machine that lacks something is a WorkbenchError, a harness that stays silent is a result. */
export async function probeHarness(
  { store, rollouts, probeFolder }: ProbeParts,
  harness: string,
  sandbox: SandboxKind,
  onProgress: (line: string) => void,
  signal?: AbortSignal,
): Promise<HarnessProbe> {
  const spec = experimentSpecSchema.parse({
    name: `probe of ${harness}`,
    tasks: [join(probeFolder, "task")],
    harnesses: [harness],
    policies: [`scripted:${join(probeFolder, "policy.yaml")}`],
    sandbox,
    attempts: 1,
  });
  const id = await rollouts.startExperiment(spec);
  const unsubscribe = store.onEvent((event) => {
    if (event.experimentId !== id) return;
    if (event.type === "log") onProgress((JSON.parse(event.payload) as { line: string }).line);
    if (event.type === "rollout.phase") onProgress((JSON.parse(event.payload) as { phase: string }).phase);
  });
  const cancel = (): void => void rollouts.cancel(id);
  signal?.addEventListener("abort", cancel, { once: true });
  if (signal?.aborted === true) cancel();
  try {
    await rollouts.settled(id);
    const [rollout] = store.rolloutsOf(id);
    if (rollout === undefined) throw new Error("the probe's rollout vanished");
    return probeResult(rollout, store.callsOf(rollout.id));
  } finally {
    signal?.removeEventListener("abort", cancel);
    unsubscribe();
    store.deleteExperiment(id);
  }
}

function probeResult({ outcome, chains, harnessVersion: version, startedAt, endedAt }: RolloutRecord, calls: readonly CallRecord[]): HarnessProbe {
  const answered = calls.filter((call) => call.status === "ok");
  const [first] = answered;
  const seconds = startedAt === null || endedAt === null ? null : (endedAt - startedAt) / 1000;
  if (first === undefined) return { ok: false, detail: outcome?.detail ?? "No call arrived.", capture: null, version, seconds, extends: null };
  const how = `${answered.length} ${first.dialect} ${answered.length === 1 ? "call" : "calls"} arrived at ${first.path.replace(/^\/r\/[^/]+/, "")}${first.stream ? ", streamed" : ""}`;
  const ok = outcome?.status === "succeeded";
  return {
    ok,
    detail: ok ? `${how}.` : `${how}, but it ended as ${outcome?.status}: ${outcome?.detail ?? "no more is known"}`,
    capture: first.capture,
    version,
    seconds,
    extends: answered.length < 2 ? null : chains === 1,
  };
}
