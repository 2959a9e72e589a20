import type { Tokenizer } from "../../../engine/tokenizers/index.ts";
import { correctionsOf, isSession } from "../../attach/index.ts";
import { WorkbenchError } from "../../errors.ts";
import { policyTokenizer } from "../../proxy/index.ts";
import type { RolloutRecord, Store } from "../../store/index.ts";
import { rebuildTrajectories, tokenSpans } from "../../trajectories/index.ts";
import type { WorkbenchParts } from "../context.ts";
import type { contractImplementer } from "../implementer.ts";
import { rolloutView } from "../present.ts";
import { gradeView, regradeReport } from "../regrade-report.ts";
import type { RolloutDetail } from "../rollout-views.ts";
import type { ChainTokens } from "../token-views.ts";
import { streamWork } from "../work-stream.ts";
import { callView, textSlice } from "./calls.ts";

export function rolloutHandlers(os: ReturnType<typeof contractImplementer>, parts: WorkbenchParts) {
  const { store, rollouts } = parts;
  const required = (id: string): RolloutRecord => {
    const record = store.rollout(id);
    if (record === null)
      throw new WorkbenchError("not-found", `There is no rollout ${id}.`, "See `openforge runs list` and `openforge runs show EXPERIMENT`.");
    return record;
  };
  /** One rollout, or those of an experiment. */
  const meant = (id: string): readonly RolloutRecord[] => {
    if (store.experiment(id) !== null) return store.rolloutsOf(id);
    if (id.startsWith("e-")) throw new WorkbenchError("not-found", `There is no experiment ${id}.`, "See `openforge runs list`.");
    return [required(id)];
  };
  return {
    list: os.rollouts.list.handler(({ input }) => store.rolloutsOf(input.experiment).map((record) => rolloutView(record, Date.now()))),
    changed: os.rollouts.changed.handler(({ input: { experiment, after } }) => {
      const mark = store.rolloutMark(experiment);
      const changed = store.rolloutsOf(experiment, after ?? undefined);
      return { mark, rollouts: changed.map((record) => rolloutView(record, Date.now())) };
    }),
    get: os.rollouts.get.handler(({ input }) => rolloutDetail(parts, required(input.id))),
    cancel: os.rollouts.cancel.handler(async ({ input }) => {
      await rollouts.cancelRollout(required(input.id).id);
      return {};
    }),
    tokens: os.rollouts.tokens.handler(async ({ input }) => {
      const record = required(input.id);
      return chainTokens(store, record, input.chain, await policyTokenizer(parts.policies, record.policy));
    }),
    grades: os.rollouts.grades.handler(({ input }) => store.gradesOf(required(input.id).id).map(gradeView)),
    regrade: os.rollouts.regrade.handler(({ input, signal }) =>
      streamWork(signal, async (onProgress, stop) => {
        const rolloutIds = meant(input.id).map(({ id }) => id);
        const taskPath = input.task === undefined ? {} : { taskPath: input.task };
        return regradeReport(await rollouts.regrade({ rolloutIds, ...taskPath, onProgress, signal: stop }));
      }),
    ),
    regraded: os.rollouts.regraded.handler(({ input }) =>
      regradeReport(
        meant(input.id).flatMap((rollout) => {
          const grade = store.gradesOf(rollout.id).at(-1);
          return grade === undefined ? [] : [{ rollout, grade, skipped: null }];
        }),
      ),
    ),
    artifacts: os.rollouts.artifacts.handler(({ input }) =>
      store.artifactsOf(required(input.id).id).map(({ kind, name, blob, size, attempt }) => ({ kind, name, blob, size, attempt })),
    ),
  };
}

export function blobHandlers(os: ReturnType<typeof contractImplementer>, parts: WorkbenchParts & { readBlob: (hash: string) => Uint8Array | null }) {
  return {
    text: os.blobs.text.handler(({ input }) => {
      const bytes = parts.readBlob(input.hash);
      if (bytes === null)
        throw new WorkbenchError("not-found", `There is no stored file ${input.hash}.`, "Reload the rollout; it may have been deleted.");
      return textSlice(bytes, 0, input.limit);
    }),
  };
}

function rolloutDetail({ store }: WorkbenchParts, record: RolloutRecord): RolloutDetail {
  const reconstruction = rebuildTrajectories(store, record.id);
  const group = store
    .rolloutsOf(record.experimentId)
    .filter((other) => other.taskDigest === record.taskDigest && other.harness === record.harness && other.policy === record.policy);
  return {
    ...rolloutView(record, Date.now()),
    calls: store.callsOf(record.id).map((call) => callView(store, call, reconstruction.chainOfCall.get(call.index) ?? null)),
    chains: reconstruction.chains.map(({ calls, tokens, trained, breakCause }) => ({ calls: [...calls], tokens, trained, breakCause })),
    corrected: isSession(record) ? [...correctionsOf(store, record.id).keys()] : [],
    group: group.map((other) => ({ id: other.id, status: other.outcome?.status ?? null, reward: other.reward })),
  };
}

function chainTokens(store: Store, record: RolloutRecord, number: number, tokenizer: Tokenizer | null): ChainTokens {
  const trajectories = rebuildTrajectories(store, record.id);
  const chain = trajectories.chains[number];
  if (chain === undefined)
    throw new WorkbenchError(
      "not-found",
      `Rollout ${record.id} has no chain ${number}.`,
      `It has ${trajectories.chains.length} chains, counted from 0.`,
    );
  const spans = tokenSpans(trajectories, number, tokenizer).map((span) => ({
    ...span,
    ids: [...span.ids],
    texts: span.texts === null ? null : [...span.texts],
    logprobs: span.logprobs === null ? null : [...span.logprobs],
  }));
  return { chain: number, total: chain.tokens, trained: chain.trained, breakCause: chain.breakCause, spans };
}
