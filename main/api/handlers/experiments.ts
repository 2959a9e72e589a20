import { join } from "node:path";
import { WorkbenchError } from "../../errors.ts";
import { importFrom } from "../../imports/index.ts";
import { importRecording } from "../../store/index.ts";
import type { WorkbenchParts } from "../context.ts";
import { createExperimentList } from "../experiment-list.ts";
import { experimentSpecSchema } from "../experiment-views.ts";
import type { contractImplementer } from "../implementer.ts";
import { rolloutView } from "../present.ts";
import { streamWork } from "../work-stream.ts";

const recordingSetting = "bundled-recording";

export function experimentHandlers(os: ReturnType<typeof contractImplementer>, parts: WorkbenchParts) {
  const { store, rollouts } = parts;
  const experiments = createExperimentList(store);
  const required = (id: string) => {
    const record = store.experiment(id);
    if (record === null) throw new WorkbenchError("not-found", `There is no experiment ${id}.`, "See `openforge runs list`.");
    return record;
  };
  return {
    list: os.experiments.list.handler(() => experiments.all()),
    get: os.experiments.get.handler(({ input }) => experiments.view(required(input.id))),
    result: os.experiments.result.handler(({ input }) => ({
      experiment: required(input.id).id,
      rollouts: store.rolloutsOf(input.id).map((record) => rolloutView(record, Date.now())),
      summary: [...rollouts.summary(input.id)],
    })),
    start: os.experiments.start.handler(async ({ input }) => ({ id: await rollouts.startExperiment(input) })),
    startStarter: os.experiments.startStarter.handler(async () => ({
      id: await rollouts.startExperiment(
        experimentSpecSchema.parse({ name: "starter experiment", tasks: ["starter"], harnesses: ["react"], policies: ["scripted"] }),
      ),
    })),
    openRecording: os.experiments.openRecording.handler(() => openBundledRecording(parts)),
    import: os.experiments.import.handler(({ input, signal }) => streamWork(signal, (report, stop) => importFrom(store, input.path, report, stop))),
    cancel: os.experiments.cancel.handler(async ({ input }) => ({ cancelled: await rollouts.cancel(required(input.id).id) })),
    remove: os.experiments.remove.handler(async ({ input }) => {
      await rollouts.cancel(required(input.id).id);
      store.deleteExperiment(input.id);
      return {};
    }),
  };
}

/** The shipped recording is imported once; opening it again shows the same rollout. */
function openBundledRecording({ store, folders }: WorkbenchParts): { experiment: string; rollout: string } {
  const known = store.setting(recordingSetting);
  let experiment: string = known === null ? "" : JSON.parse(known);
  if (store.experiment(experiment) === null) {
    experiment = importRecording(store, join(folders.resources, "recordings", "cut-tool-result.openforge"));
    store.setSetting(recordingSetting, JSON.stringify(experiment));
  }
  const rollout = store.rolloutsOf(experiment)[0];
  if (rollout === undefined) throw new WorkbenchError("store", "The bundled recording holds no rollout.", "Install the workbench again.");
  return { experiment, rollout: rollout.id };
}
