/** Every read of the window, by name. Keys are `kind:id`, so that an event can say which values it made old. */
import type {
  ArtifactView,
  CallDetail,
  ChainTokens,
  DoctorRow,
  ExperimentResult,
  ExperimentView,
  HarnessView,
  PolicyView,
  RolloutDetail,
  RolloutView,
  TaskCheckView,
  TaskView,
} from "../../../main/api/views.ts";
import type { Query } from "./queries.ts";

export type { CallView, EventView, MessageView, TaskRunView, TaskView, TokenSpan } from "../../../main/api/views.ts";
export type { ArtifactView, CallDetail, ChainTokens, DoctorRow, ExperimentView, HarnessView, PolicyView, RolloutDetail, RolloutView, TaskCheckView };

export type BodyName = "request" | "response" | "upstreamRequest" | "upstreamResponse";
export interface TextSlice {
  readonly text: string;
  readonly total: number;
  readonly truncated: boolean;
}

/** What a text opens with; the rest is read when asked for. */
export const firstBytes = 262_144;
export const wholeBytes = 64 * 1024 * 1024;

export const experimentsQuery: Query<ExperimentView[]> = {
  key: "experiments",
  load: (client, signal) => client.experiments.list(undefined, { signal }),
};
export const experimentResultQuery = (id: string): Query<ExperimentResult> => ({
  key: `result:${id}`,
  load: (client, signal) => client.experiments.result({ id }, { signal }),
});
export const rolloutsQuery = (experiment: string): Query<RolloutView[]> => ({
  key: `rollouts:${experiment}`,
  load: (client, signal) => client.rollouts.list({ experiment }, { signal }),
});
export const rolloutQuery = (id: string): Query<RolloutDetail> => ({
  key: `rollout:${id}`,
  load: (client, signal) => client.rollouts.get({ id }, { signal }),
});
export const artifactsQuery = (id: string): Query<ArtifactView[]> => ({
  key: `artifacts:${id}`,
  load: (client, signal) => client.rollouts.artifacts({ id }, { signal }),
});
export const tokensQuery = (id: string, chain: number): Query<ChainTokens> => ({
  key: `tokens:${id}:${chain}`,
  load: (client, signal) => client.rollouts.tokens({ id, chain }, { signal }),
});
export const callQuery = (id: string): Query<CallDetail> => ({ key: `call:${id}`, load: (client, signal) => client.calls.get({ id }, { signal }) });
export const bodyQuery = (id: string, which: BodyName, limit: number): Query<TextSlice> => ({
  key: `body:${id}:${which}:${limit}`,
  load: (client, signal) => client.calls.body({ id, which, limit }, { signal }),
});
export const blobQuery = (hash: string, limit: number): Query<TextSlice> => ({
  key: `blob:${hash}:${limit}`,
  load: (client, signal) => client.blobs.text({ hash, limit }, { signal }),
});
export const tasksQuery: Query<TaskView[]> = { key: "tasks", load: (client, signal) => client.tasks.list(undefined, { signal }) };
export const taskCheckQuery = (path: string): Query<TaskCheckView> => ({
  key: `task-check:${path}`,
  load: (client, signal) => client.tasks.check({ path }, { signal }),
});
export const harnessesQuery: Query<HarnessView[]> = { key: "harnesses", load: (client, signal) => client.harnesses.list(undefined, { signal }) };
export const policiesQuery: Query<PolicyView[]> = { key: "policies", load: (client, signal) => client.policies.list(undefined, { signal }) };
export const doctorQuery: Query<DoctorRow[]> = { key: "doctor", load: (client, signal) => client.system.doctor(undefined, { signal }) };
