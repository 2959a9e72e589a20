import { randomBytes } from "node:crypto";
import { WorkbenchError } from "../errors.ts";
import type { PolicyRegistry, ProxyAttach, Proxy as RecordingProxy, Upstream } from "../proxy/index.ts";
import { experimentId, idMaker, usualTokenMode } from "../rollouts/index.ts";
import type { RolloutRecord, Store } from "../store/index.ts";
import { rebuildTrajectories, trajectoryTotals } from "../trajectories/index.ts";
import type { AttachCounts, Attached, AttachRequest, AttachService, SessionVerdict } from "./contract.ts";
import { recordCorrection } from "./corrections.ts";
import { sessionRecord } from "./session-record.ts";

export interface AttachParts {
  readonly store: Store;
  readonly proxy: RecordingProxy;
  readonly policies: Pick<PolicyRegistry, "resolve">;
}

interface Running {
  readonly told: Omit<Attached, "key"> & AttachRequest & { readonly startedAt: number };
  readonly experiment: string;
  readonly upstream: Upstream;
  readonly proxied: ProxyAttach;
}

export function createAttachService({ store, proxy, policies }: AttachParts): AttachService {
  const running = new Map<string, Running>();
  const required = (id: string): Running => {
    const found = running.get(id);
    if (found === undefined) throw new WorkbenchError("not-found", `Nothing is attached as ${id}.`, "Start it with `openforge attach --name NAME`.");
    return found;
  };

  async function start({ name, policy }: AttachRequest) {
    const upstream = await policies.resolve(policy);
    const experiment = experimentId(store);
    const id = `a-${randomBytes(4).toString("hex")}`;
    const spec = JSON.stringify({ name, policy, attached: id });
    const now = Date.now();
    const newId = idMaker(store);
    let sessions = 0;
    const openSession = ({ client }: { readonly client: string }): string => {
      const rollout = newId();
      store.createRollouts([sessionRecord({ id: rollout, experimentId: experiment, name, client, policy, index: sessions++, now: Date.now() })]);
      tell(store, experiment, rollout, "rollout.phase", { phase: "running", attempt: 0 });
      return rollout;
    };
    let proxied: ProxyAttach | null = null;
    try {
      proxied = await proxy.openAttach({ id, upstream, tokenMode: usualTokenMode(upstream), openSession });
      // Only now: an address that could not be opened leaves no experiment that runs for ever.
      store.createExperiment({ id: experiment, name, createdAt: now, endedAt: null, spec, status: "running", kind: "attach" });
    } catch (error) {
      await proxied?.close();
      await upstream.close();
      throw error;
    }
    const origin = `http://${proxy.address}${proxied.path}`;
    const baseUrl = `${origin}/v1`;
    const attached = { id, experiment, baseUrl, dialects: { chat: baseUrl, responses: baseUrl, messages: origin, gemini: origin } };
    running.set(id, { told: { ...attached, name, policy, startedAt: now }, experiment, upstream, proxied });
    return { ...attached, key: proxied.key };
  }

  function counts(id: string): AttachCounts {
    const sessions = required(id).proxied.sessions();
    return { sessions: sessions.length, calls: sessions.reduce((sum, { stats }) => sum + stats.calls, 0) };
  }

  async function detach(id: string, { experiment, upstream, proxied }: Running): Promise<void> {
    running.delete(id);
    await proxied.close();
    await upstream.close();
    endExperiment(store, experiment);
  }

  return {
    start,
    list: () => [...running].map(([id, { told }]) => ({ ...told, ...counts(id) })).reverse(),
    counts,
    async stop(id) {
      const counted = counts(id);
      await detach(id, required(id));
      return counted;
    },
    grade(rolloutId, verdict) {
      const rollout = attachedSession(store, rolloutId);
      const grade = gradeOf(verdict);
      store.atomically(() => {
        store.updateRollout(rolloutId, grade);
        tell(store, rollout.experimentId, rolloutId, "rollout.outcome", grade.outcome);
      });
    },
    correct(callId, text) {
      const call = store.call(callId);
      if (call === null) throw new WorkbenchError("not-found", `There is no call ${callId}.`, "See `openforge calls ROLLOUT`.");
      recordCorrection(store, attachedSession(store, call.rolloutId), callId, text);
    },
    endUnfinished() {
      for (const { id, kind, status } of store.experiments()) if (kind === "attach" && status === "running") endExperiment(store, id);
    },
    async close() {
      for (const [id, attached] of running) await detach(id, attached);
    },
  };
}

function gradeOf({ status, cause, note }: SessionVerdict) {
  return { outcome: { status, cause, action: "train", detail: note }, reward: status === "succeeded" ? 1 : 0 } as const;
}

function attachedSession(store: Store, rolloutId: string): RolloutRecord {
  const rollout = store.rollout(rolloutId);
  if (rollout !== null && store.experiment(rollout.experimentId)?.kind === "attach") return rollout;
  throw new WorkbenchError(
    "usage",
    `${rolloutId} is no attached session.`,
    "Only sessions of `openforge attach` are graded and corrected by hand; rollouts of tasks have a verifier.",
  );
}

/** Sessions end without an outcome: nobody has said yet how they went. */
function endExperiment(store: Store, experiment: string): void {
  const at = Date.now();
  for (const rollout of store.rolloutsOf(experiment)) {
    if (rollout.phase === "ended") continue;
    const totals = trajectoryTotals(rebuildTrajectories(store, rollout.id));
    const phases = rollout.phases.map((phase) => ({ ...phase, seconds: phase.seconds ?? (at - phase.startedAt) / 1000 }));
    store.atomically(() => {
      store.updateRollout(rollout.id, { ...totals, phase: "ended", phases, endedAt: at });
      tell(store, experiment, rollout.id, "rollout.phase", { phase: "ended", attempt: 0 });
    });
  }
  store.updateExperiment(experiment, { status: "ended", endedAt: at });
  tell(store, experiment, null, "experiment.ended", { status: "ended" });
}

function tell(store: Store, experimentId: string, rolloutId: string | null, type: string, payload: unknown): void {
  store.appendEvent({ at: Date.now(), experimentId, rolloutId, type, payload: JSON.stringify(payload) });
}
