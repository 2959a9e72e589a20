/** Training runs of the stand-in service. */
import { type implement, ORPCError } from "@orpc/server";
import type { contract } from "../../../main/api/contract.ts";

type Implementer = ReturnType<typeof implement<typeof contract>>;

export function sampleTraining(os: Implementer) {
  const missing = (): never => {
    throw new ORPCError("WORKBENCH", { message: "There is no such run.", data: { code: "not-found", remedy: "See Train.", exitCode: 2 } });
  };
  return {
    list: os.training.list.handler(() => []),
    get: os.training.get.handler(missing),
    check: os.training.check.handler(() => ({ valid: true, faults: [], summary: [] })),
    start: os.training.start.handler(missing),
    startStarter: os.training.startStarter.handler(missing),
    // biome-ignore lint/correctness/useYield: there is no run to follow.
    follow: os.training.follow.handler(async function* () {
      missing();
    }),
    pause: os.training.pause.handler(() => ({})),
    resume: os.training.resume.handler(() => ({})),
    checkpoint: os.training.checkpoint.handler(() => ({})),
    cancel: os.training.cancel.handler(() => ({})),
    step: os.training.step.handler(missing),
    stepTokens: os.training.stepTokens.handler(missing),
  };
}
