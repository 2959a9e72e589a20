/** The one contract between the service and its faces (window, browser, command line). Long work answers with a stream. */
import { eventIterator, oc } from "@orpc/contract";
import { z } from "zod";
import { comparisonSchema, gridSchema, measureSchema, transferSchema } from "./analysis-views.ts";
import { attachCountsSchema, attachedSchema, attachmentSchema, sessionVerdictSchema } from "./attach-views.ts";
import { callDetailSchema } from "./call-views.ts";
import { experimentResultSchema, experimentSpecSchema, experimentViewSchema } from "./experiment-views.ts";
import { exportReportSchema, exportRequestSchema, importReportSchema } from "./export-views.ts";
import { gradeViewSchema, regradeReportSchema } from "./grade-views.ts";
import { harnessViewSchema } from "./harness-views.ts";
import { importedPolicySchema, policyPricesSchema, policyViewSchema, serverKinds } from "./policy-views.ts";
import { artifactViewSchema, rolloutDetailSchema, rolloutViewSchema } from "./rollout-views.ts";
import { doctorRowSchema, eventViewSchema, progressOf, systemInfoSchema } from "./system-views.ts";
import { cheatRunViewSchema, taskCheckViewSchema, taskRunViewSchema, taskViewSchema } from "./task-views.ts";
import { chainTokensSchema } from "./token-views.ts";
import { trainedTokensSchema, trainingCheckSchema, trainingResultSchema, trainingRunSchema, trainingStepDetailSchema } from "./training-views.ts";

const byId = z.object({ id: z.string() });
const byPath = z.object({ path: z.string() });
const taskRunInput = z.object({ path: z.string(), sandbox: z.enum(["local", "docker"]).default("local") });

/** What a failed call carries besides its message: the error code of the service, and what to do. */
const base = oc.errors({
  WORKBENCH: { data: z.object({ code: z.string(), remedy: z.string(), exitCode: z.number() }) },
});

export const contract = {
  system: {
    info: base.output(systemInfoSchema),
    /** Where a browser opens this service; carries its token, so it is answered on the private socket only. */
    address: base.output(z.object({ url: z.string() })),
    doctor: base.output(z.array(doctorRowSchema)),
    /** Committed events after `after` (default: from now on), live until aborted. */
    events: base.input(z.object({ after: z.number().optional() })).output(eventIterator(eventViewSchema)),
    prepareImages: base.output(eventIterator(progressOf(z.object({ image: z.string(), how: z.string() })))),
    checkStore: base.output(z.array(z.object({ where: z.string(), message: z.string(), repaired: z.boolean() }))),
    setting: base.input(z.object({ key: z.string() })).output(z.object({ json: z.string().nullable() })),
    setSetting: base.input(z.object({ key: z.string(), json: z.string() })).output(z.object({})),
  },
  experiments: {
    list: base.output(z.array(experimentViewSchema)),
    get: base.input(byId).output(experimentViewSchema),
    result: base.input(byId).output(experimentResultSchema),
    start: base.input(experimentSpecSchema).output(byId),
    /** The first-run experiment: what `quickstart` and one click run. */
    startStarter: base.output(byId),
    /** Brings the bundled recording into the store (once) and names its experiment and rollout. */
    openRecording: base.output(z.object({ experiment: z.string(), rollout: z.string() })),
    /** Someone else's recordings, read-only: a Harbor job folder, an Inspect log, an ATIF file. The path is absolute. */
    import: base.input(byPath).output(eventIterator(progressOf(importReportSchema))),
    cancel: base.input(byId).output(z.object({ cancelled: z.number() })),
    remove: base.input(byId).output(z.object({})),
  },
  rollouts: {
    list: base.input(z.object({ experiment: z.string() })).output(z.array(rolloutViewSchema)),
    /** Those that changed after a mark (all, when the mark is null or of an earlier service), and the mark to ask with next time. */
    changed: base
      .input(z.object({ experiment: z.string(), after: z.number().nullable() }))
      .output(z.object({ mark: z.number(), rollouts: z.array(rolloutViewSchema) })),
    get: base.input(byId).output(rolloutDetailSchema),
    cancel: base.input(byId).output(z.object({})),
    tokens: base.input(z.object({ id: z.string(), chain: z.number() })).output(chainTokensSchema),
    artifacts: base.input(byId).output(z.array(artifactViewSchema)),
    /** Grades of later verifiers, oldest first. */
    grades: base.input(byId).output(z.array(gradeViewSchema)),
    /** Grades one rollout, or all of an experiment, with the verifier as it is now (`task`: absolute folder of another package). */
    regrade: base.input(byId.extend({ task: z.string().optional() })).output(eventIterator(progressOf(regradeReportSchema))),
    /** What the newest later grades of an experiment's rollouts, or of one, changed. Empty before a regrade. */
    regraded: base.input(byId).output(regradeReportSchema),
  },
  calls: {
    get: base.input(byId).output(callDetailSchema),
    /** A slice of one body as text; `truncated` when more follows. */
    body: base
      .input(
        z.object({
          id: z.string(),
          which: z.enum(["request", "response", "upstreamRequest", "upstreamResponse"]),
          offset: z.number().default(0),
          limit: z.number().default(262_144),
        }),
      )
      .output(z.object({ text: z.string(), total: z.number(), truncated: z.boolean() })),
  },
  blobs: {
    text: base
      .input(z.object({ hash: z.string(), limit: z.number().default(262_144) }))
      .output(z.object({ text: z.string(), total: z.number(), truncated: z.boolean() })),
  },
  tasks: {
    list: base.output(z.array(taskViewSchema)),
    create: base.input(z.object({ path: z.string(), name: z.string().optional(), family: z.string().optional() })).output(byPath),
    check: base.input(byPath).output(taskCheckViewSchema),
    /** `source`: a folder, an archive or a git address; `to`: a folder that does not exist yet (default: in the data folder). */
    import: base.input(z.object({ source: z.string(), to: z.string().optional() })).output(taskCheckViewSchema),
    runGold: base.input(taskRunInput).output(eventIterator(progressOf(taskRunViewSchema))),
    runEmpty: base.input(taskRunInput).output(eventIterator(progressOf(taskRunViewSchema))),
    runCheats: base.input(taskRunInput).output(eventIterator(progressOf(cheatRunViewSchema))),
  },
  harnesses: {
    list: base.output(z.array(harnessViewSchema)),
    /** Writes a manifest to fill in. */
    create: base.input(byId).output(byPath),
    install: base.input(byId).output(eventIterator(progressOf(harnessViewSchema))),
    probe: base
      .input(z.object({ id: z.string(), sandbox: z.enum(["local", "docker"]).default("local") }))
      .output(eventIterator(progressOf(harnessViewSchema))),
  },
  policies: {
    list: base.output(z.array(policyViewSchema)),
    add: base
      .input(
        z.object({
          id: z.string(),
          url: z.string(),
          kind: z.enum(serverKinds).optional(),
          model: z.string().optional(),
          keyVariable: z.string().optional(),
          tokenizer: z.string().optional(),
          /** Ollama only. */
          contextWindow: z.number().optional(),
          prices: policyPricesSchema.optional(),
          /** In the currency of the prices. */
          spendingLimit: z.number().optional(),
          /** Takes the place of a policy of this id. */
          replace: z.boolean().optional(),
        }),
      )
      .output(policyViewSchema),
    /** Weights of this machine: a GGUF file is dequantised into the data folder, a Hugging Face folder used where it lies. The path is absolute. */
    import: base.input(byPath.extend({ name: z.string().optional() })).output(eventIterator(progressOf(importedPolicySchema))),
    remove: base.input(byId).output(z.object({})),
    probe: base.input(byId).output(z.object({ policy: policyViewSchema, lost: z.array(z.string()) })),
  },
  training: {
    /** Newest first; without their points and evaluations (empty lists). */
    list: base.output(z.array(trainingRunSchema)),
    /** `after`: only the points of later steps, for who has the earlier ones; `most`: at most so many, the earliest of them. */
    get: base.input(byId.extend({ after: z.number().optional(), most: z.number().int().positive().optional() })).output(trainingRunSchema),
    /** Reads a run file and says what it will do: faults by line, memory, rollouts. `folder`: where its relative paths begin. */
    check: base.input(z.object({ yaml: z.string(), folder: z.string() })).output(trainingCheckSchema),
    start: base.input(z.object({ yaml: z.string(), folder: z.string(), seed: z.number().optional() })).output(byId),
    /** The starter experiment: the run file that ships. `quick` = its short form. */
    startStarter: base.input(z.object({ seed: z.number().default(1), quick: z.boolean().default(false) })).output(byId),
    /** Lines of progress, then the result when the run has ended. Leaving the stream leaves the run as it is. */
    follow: base.input(byId).output(eventIterator(progressOf(trainingResultSchema))),
    /** After the step in hand. */
    pause: base.input(byId).output(z.object({})),
    /** A paused, interrupted or failed run goes on from its last checkpoint. */
    resume: base.input(byId).output(z.object({})),
    checkpoint: base.input(byId).output(z.object({})),
    cancel: base.input(byId).output(z.object({})),
    step: base.input(z.object({ id: z.string(), step: z.number() })).output(trainingStepDetailSchema),
    stepTokens: base.input(z.object({ id: z.string(), step: z.number(), rollout: z.string(), chain: z.number() })).output(trainedTokensSchema),
  },
  analysis: {
    /** What the behaviour measures mean, by their names. */
    measures: base.output(z.record(z.string(), measureSchema)),
    /** Harnesses (and policies) by task, over the rollouts of some experiments. */
    grid: base.input(z.object({ experiments: z.array(z.string()) })).output(gridSchema),
    /** Two columns of a grid, by their keys. */
    compare: base.input(z.object({ a: z.string(), b: z.string() })).output(comparisonSchema),
    /** Of all training runs that were evaluated. */
    transfer: base.output(z.array(transferSchema)),
  },
  exports: {
    /** Writes a file or folder on the machine of the service. */
    write: base.input(exportRequestSchema).output(eventIterator(progressOf(exportReportSchema))),
  },
  attach: {
    /** A base address and key for a program outside any sandbox. */
    start: base.input(z.object({ name: z.string().min(1), policy: z.string().min(1) })).output(attachedSchema),
    /** The addresses that are open now, newest first. */
    list: base.output(z.array(attachmentSchema)),
    counts: base.input(byId).output(attachCountsSchema),
    stop: base.input(byId).output(attachCountsSchema),
    /** How a session went, by a person. */
    grade: base.input(sessionVerdictSchema).output(z.object({})),
    /** What the policy should have answered; empty takes it back. */
    correct: base.input(z.object({ call: z.string(), text: z.string() })).output(z.object({})),
  },
};
