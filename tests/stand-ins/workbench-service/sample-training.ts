/** Training of the stand-in service: it answers with invented runs, and makes a step a second of those that a person starts. */
import { type implement, ORPCError } from "@orpc/server";
import type { contract } from "../../../main/api/contract.ts";
import type { TrainingCheck, TrainingRunView } from "../../../main/api/training-views.ts";
import { sampleTokens } from "./sample-call.ts";
import { randomFrom } from "./sample-experiments.ts";
import { detailOf, round, runOf, type Shape, shapes } from "./sample-runs.ts";

type Implementer = ReturnType<typeof implement<typeof contract>>;

function checkOf(yaml: string): TrainingCheck {
  const faults = yaml
    .split("\n")
    .flatMap((text, index) =>
      /^\s*(steps|group|rate):\s*(-|[a-z])/.test(text) ? [{ line: index + 1, message: `\`${text.trim()}\` must be a number above 0.` }] : [],
    );
  if (!/^base:/m.test(yaml))
    faults.push({ line: 1, message: "`base` is missing: the folder of a model, the name of an imported one, or `starter`." });
  return {
    valid: faults.length === 0,
    faults,
    summary: [
      "40 steps of GRPO, 8 groups of 8: 2,560 rollouts, and 80 for each of 3 evaluations.",
      "About 1.1 GB of memory and 5 minutes on this computer.",
    ],
  };
}

/** A run that a person starts begins from nothing and makes a step a second. */
function startedRun(seed: number): TrainingRunView {
  const shape: Shape = {
    id: `t-new${seed}`,
    configuration: "c-starter",
    algorithm: "grpo",
    seed,
    made: 0,
    status: "running",
    reach: 0.82,
    name: "starter experiment",
  };
  return {
    ...runOf({ ...shape, made: 1 }),
    createdAt: Date.now(),
    steps: 40,
    secondsPerStep: 1,
    gain: null,
    memory: { bytes: 460_000_000, plan: "all in one piece" },
  };
}

export function sampleTraining(os: Implementer, empty: boolean) {
  const runs = new Map((empty ? [] : shapes).map((shape) => [shape.id, runOf(shape)]));
  const find = (id: string): TrainingRunView => {
    const run = runs.get(id);
    if (run === undefined)
      throw new ORPCError("WORKBENCH", {
        message: `There is no training run ${id}.`,
        data: { code: "not-found", remedy: "See Train.", exitCode: 2 },
      });
    return run;
  };
  const setStatus = (id: string, status: TrainingRunView["status"]): Record<string, never> => {
    runs.set(id, { ...find(id), status });
    return {};
  };
  const start = (seed: number): { id: string } => {
    const run = startedRun(seed);
    runs.set(run.id, run);
    return { id: run.id };
  };
  /** One more step of the runs that were started here; answers with them. */
  const advance = (): readonly { run: string; status: string }[] =>
    [...runs.values()].flatMap((run) => {
      if (!run.id.startsWith("t-new") || run.status !== "running") return [];
      const shape: Shape = {
        id: run.id,
        configuration: run.configuration,
        algorithm: "grpo",
        seed: run.seed,
        made: run.step + 1,
        status: "running",
        reach: 0.82,
        name: run.name,
      };
      const next = { ...runOf(shape), createdAt: run.createdAt, steps: run.steps, secondsPerStep: 1, memory: run.memory };
      const ended = next.step >= next.steps;
      runs.set(run.id, { ...next, status: ended ? "ended" : "running", gain: ended ? next.gain : null });
      return [{ run: run.id, status: ended ? "ended" : "running" }];
    });
  const handlers = {
    list: os.training.list.handler(() =>
      [...runs.values()].map((run) => ({ ...run, points: [], evaluations: [] })).sort((left, right) => right.createdAt - left.createdAt),
    ),
    get: os.training.get.handler(({ input }) => {
      const run = find(input.id);
      return { ...run, points: run.points.filter((point) => point.step > (input.after ?? 0)).slice(0, input.most) };
    }),
    check: os.training.check.handler(({ input }) => checkOf(input.yaml)),
    start: os.training.start.handler(({ input }) => start(input.seed ?? 1)),
    startStarter: os.training.startStarter.handler(({ input }) => start(input.seed)),
    // biome-ignore lint/correctness/useYield: the window reads the run itself.
    follow: os.training.follow.handler(async function* ({ input }) {
      find(input.id);
    }),
    pause: os.training.pause.handler(({ input }) => setStatus(input.id, "paused")),
    resume: os.training.resume.handler(({ input }) => setStatus(input.id, "running")),
    checkpoint: os.training.checkpoint.handler(() => ({})),
    cancel: os.training.cancel.handler(({ input }) => setStatus(input.id, "cancelled")),
    step: os.training.step.handler(({ input }) => {
      const detail = detailOf(find(input.id), input.step);
      if (detail !== null) return detail;
      throw new ORPCError("WORKBENCH", {
        message: `There is no step ${input.step}.`,
        data: { code: "not-found", remedy: "See the step bar.", exitCode: 2 },
      });
    }),
    stepTokens: os.training.stepTokens.handler(({ input }) => {
      const chain = sampleTokens(input.chain, 12);
      const random = randomFrom(input.step);
      const tokens = chain.spans.flatMap(({ mask, logprobs, ids }) => ids.map((_, index) => ({ mask, logprob: logprobs?.[index] ?? null })));
      return {
        chain: input.chain,
        mask: tokens.map(({ mask }) => mask),
        advantages: tokens.map(({ mask }) => (mask === 1 ? 0.7178 : null)),
        trainerLogprobs: tokens.map(({ mask, logprob }) =>
          mask === 1 && logprob !== null ? round(logprob + (random() - 0.5) * 0.02 + (random() < 0.02 ? 0.4 : 0)) : null,
        ),
      };
    }),
  };
  return { handlers, advance, runs: () => [...runs.values()] };
}
