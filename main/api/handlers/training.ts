import type { WorkbenchParts } from "../context.ts";
import type { contractImplementer } from "../implementer.ts";
import { streamWork } from "../work-stream.ts";

export function trainingHandlers(os: ReturnType<typeof contractImplementer>, { training }: WorkbenchParts) {
  const done = async (work: Promise<void>): Promise<Record<string, never>> => {
    await work;
    return {};
  };
  return {
    list: os.training.list.handler(() => [...training.list()]),
    get: os.training.get.handler(({ input: { id, after = 0, most } }) => {
      const run = training.get(id);
      return { ...run, points: run.points.filter((point) => point.step > after).slice(0, most) };
    }),
    check: os.training.check.handler(({ input }) => training.check(input)),
    start: os.training.start.handler(async ({ input }) => ({ id: await training.start(input) })),
    startStarter: os.training.startStarter.handler(async ({ input }) => ({
      id: await training.start({ ...training.starterRun(input.quick), seed: input.seed }),
    })),
    follow: os.training.follow.handler(({ input, signal }) => streamWork(signal, (report, stop) => training.follow(input.id, report, stop))),
    pause: os.training.pause.handler(({ input }) => done(training.pause(input.id))),
    resume: os.training.resume.handler(({ input }) => done(training.resume(input.id))),
    checkpoint: os.training.checkpoint.handler(({ input }) => done(training.checkpoint(input.id))),
    cancel: os.training.cancel.handler(({ input }) => done(training.cancel(input.id))),
    step: os.training.step.handler(({ input }) => training.step(input.id, input.step)),
    stepTokens: os.training.stepTokens.handler(({ input }) => training.stepTokens(input.id, input.step, input.rollout, input.chain)),
  };
}
