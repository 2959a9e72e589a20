/** Every read of the window, by name. Keys are `kind:id`, so that an event can say which values it made old. */

import type { CompareGrid, Comparison, MeasureView, TransferMatrix } from "../../../main/api/analysis-views.ts";
import type { Attachment } from "../../../main/api/attach-views.ts";
import type { CallDetail } from "../../../main/api/call-views.ts";
import type { ExperimentResult, ExperimentView } from "../../../main/api/experiment-views.ts";
import type { GradeView, RegradeReport } from "../../../main/api/grade-views.ts";
import type { HarnessView } from "../../../main/api/harness-views.ts";
import type { PolicyView } from "../../../main/api/policy-views.ts";
import type { ArtifactView, RolloutDetail, RolloutView } from "../../../main/api/rollout-views.ts";
import type { DoctorRow } from "../../../main/api/system-views.ts";
import type { TaskCheckView, TaskView } from "../../../main/api/task-views.ts";
import type { ChainTokens } from "../../../main/api/token-views.ts";
import type { TrainedTokens, TrainingRunView, TrainingStepDetail } from "../../../main/api/training-views.ts";
import { peek, put, type Query } from "./queries.ts";

export type {
  CompareCell,
  CompareColumn,
  CompareGrid,
  Comparison,
  Estimate,
  MeasureView,
  RolloutPair,
  TransferMatrix,
} from "../../../main/api/analysis-views.ts";
export type { Attachment } from "../../../main/api/attach-views.ts";
export type { CallView, MessageView } from "../../../main/api/call-views.ts";
export type { ExportReport, ExportRequest, ImportReport } from "../../../main/api/export-views.ts";
export type { GradeView, RegradeReport, RegradeRow, StepView } from "../../../main/api/grade-views.ts";
export type { ImportedPolicyView } from "../../../main/api/policy-views.ts";
export type { EventView } from "../../../main/api/system-views.ts";
export type { TaskImportView, TaskRunView, TaskView } from "../../../main/api/task-views.ts";
export type { TokenSpan } from "../../../main/api/token-views.ts";
export type {
  TrainedTokens,
  TrainingCheck,
  TrainingRunView,
  TrainingStepDetail,
  TrainingStepView,
} from "../../../main/api/training-views.ts";
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
/** The rollouts of an experiment. Read whole once, then only what has changed: a list of thousands is kept true event by event. */
export function rolloutsQuery(experiment: string): Query<RolloutView[]> {
  const key = `rollouts:${experiment}`;
  const load: Query<RolloutView[]>["load"] = async (client, signal) => {
    const known = peek<RolloutView[]>({ key, load }).value;
    const after = known === undefined ? null : (marks.get(known) ?? null);
    const { mark, rollouts } = await client.rollouts.changed({ experiment, after }, { signal });
    const merged = known === undefined ? rollouts : mergeRollouts(known, rollouts);
    marks.set(merged, mark);
    return merged;
  };
  return { key, load };
}

/** Up to which change a list is true. */
const marks = new WeakMap<readonly RolloutView[], number>();

/** Changed ones in their place, new ones at the end; the same list when nothing has changed. */
export function mergeRollouts(known: RolloutView[], changed: readonly RolloutView[]): RolloutView[] {
  if (changed.length === 0) return known;
  const left = new Map(changed.map((rollout) => [rollout.id, rollout]));
  const merged = known.map((rollout) => {
    const next = left.get(rollout.id);
    left.delete(rollout.id);
    return next ?? rollout;
  });
  return [...merged, ...left.values()];
}

export const rolloutQuery = (id: string): Query<RolloutDetail> => ({
  key: `rollout:${id}`,
  load: (client, signal) => client.rollouts.get({ id }, { signal }),
});
export const artifactsQuery = (id: string): Query<ArtifactView[]> => ({
  key: `artifacts:${id}`,
  load: (client, signal) => client.rollouts.artifacts({ id }, { signal }),
});
/** Grades of later verifiers, oldest first. */
export const gradesQuery = (id: string): Query<GradeView[]> => ({
  key: `grades:${id}`,
  load: (client, signal) => client.rollouts.grades({ id }, { signal }),
});
/** What later verifiers changed in an experiment or a rollout. */
export const regradedQuery = (id: string): Query<RegradeReport> => ({
  key: `regraded:${id}`,
  load: (client, signal) => client.rollouts.regraded({ id }, { signal }),
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
/** Open addresses, with how much came through each. */
export const attachmentsQuery: Query<Attachment[]> = { key: "attachments", load: (client, signal) => client.attach.list(undefined, { signal }) };
export const tasksQuery: Query<TaskView[]> = { key: "tasks", load: (client, signal) => client.tasks.list(undefined, { signal }) };
export const taskCheckQuery = (path: string): Query<TaskCheckView> => ({
  key: `task-check:${path}`,
  load: (client, signal) => client.tasks.check({ path }, { signal }),
});
export const harnessesQuery: Query<HarnessView[]> = { key: "harnesses", load: (client, signal) => client.harnesses.list(undefined, { signal }) };
export const policiesQuery: Query<PolicyView[]> = { key: "policies", load: (client, signal) => client.policies.list(undefined, { signal }) };
export const doctorQuery: Query<DoctorRow[]> = { key: "doctor", load: (client, signal) => client.system.doctor(undefined, { signal }) };

export const trainingsQuery: Query<TrainingRunView[]> = { key: "trainings", load: (client, signal) => client.training.list(undefined, { signal }) };

/** Points that are asked for at once: a long run is drawn from its beginning while the rest is read. */
const pointsAtOnce = 2000;

/** A run with all its points. Those that are here already are not asked for again: a long run is read once, page by page, then step by step. */
export function trainingQuery(id: string): Query<TrainingRunView> {
  const key = `training:${id}`;
  const query: Query<TrainingRunView> = {
    key,
    load: async (client, signal) => {
      let points = peek(query).value?.points ?? [];
      for (;;) {
        const last = points.at(-1)?.step ?? 0;
        const run = await client.training.get({ id, after: last, most: pointsAtOnce }, { signal });
        // A run that went back to a checkpoint takes steps again.
        const whole = run.step < last ? [] : [...points, ...run.points];
        if (run.step >= last && run.points.length < pointsAtOnce) return { ...run, points: whole };
        points = whole;
        if (!signal.aborted) put(query, { ...run, points });
      }
    },
  };
  return query;
}
export const trainingStepQuery = (id: string, step: number): Query<TrainingStepDetail> => ({
  key: `training-step:${id}:${step}`,
  load: (client, signal) => client.training.step({ id, step }, { signal }),
});
export const trainedTokensQuery = (run: string, step: number, rollout: string, chain: number): Query<TrainedTokens> => ({
  key: `tokens:${rollout}:${chain}:${run}:${step}`,
  load: (client, signal) => client.training.stepTokens({ id: run, step, rollout, chain }, { signal }),
});
export const gridQuery = (experiments: readonly string[]): Query<CompareGrid> => ({
  key: `grid:${experiments.join(",")}`,
  load: (client, signal) => client.analysis.grid({ experiments: [...experiments] }, { signal }),
});
export const comparisonQuery = (a: string, b: string): Query<Comparison> => ({
  key: `comparison:${a}:${b}`,
  load: (client, signal) => client.analysis.compare({ a, b }, { signal }),
});
export const transferQuery: Query<TransferMatrix[]> = { key: "transfer", load: (client, signal) => client.analysis.transfer(undefined, { signal }) };
export const measuresQuery: Query<Record<string, MeasureView>> = {
  key: "measures",
  load: (client, signal) => client.analysis.measures(undefined, { signal }),
};
