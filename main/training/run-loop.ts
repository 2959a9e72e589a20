/** The loop of a run: collect, learn, publish, evaluate; every step whole on disk before the next begins. */
import { learningRate } from "../../engine/optimiser/index.ts";
import { deriveSeed } from "../../engine/statistics/index.ts";
import type { SecondsView } from "../api/training-views.ts";
import { WorkbenchError } from "../errors.ts";
import type { RolloutRecord } from "../store/index.ts";
import { algorithmOf } from "./algorithm-of.ts";
import { type BatchRules, buildBatch } from "./batch.ts";
import { busySeconds, rolloutSpans, type Span } from "./busy-time.ts";
import { sampledRows } from "./chain-rows.ts";
import type { Collected } from "./collect.ts";
import { collectGroups } from "./collect-groups.ts";
import { evaluationOf } from "./evaluate.ts";
import { judge } from "./judge.ts";
import { longestSequence, type OpenRun } from "./open-run.ts";
import { metricsOf, rolloutRows, tokenRows, type Update, updatePolicy } from "./policy-update.ts";
import { evaluationLine, stepLine } from "./progress-lines.ts";
import type { StepRecord } from "./records.ts";
import type { RlStage } from "./run-file.ts";
import { planStages, type StageSpan, spanOf, stepsOf } from "./stage-plan.ts";
import { planEvaluation } from "./step-plan.ts";
import { type StepFacts, stepRecord } from "./step-record.ts";
import { supervisedBatch, supervisedUpdate, type TeacherRows, teacherRows } from "./supervised.ts";
import { teacherRollouts } from "./teacher.ts";
import { WorkClock } from "./work-clock.ts";

export interface LoopControl {
  /** Aborts when the run is cancelled or the service stops. */
  readonly signal: AbortSignal;
  /** Asked between steps. */
  pauseWanted(): boolean;
  /** Asked when a step ends; its checkpoint is then kept for good. */
  checkpointWanted(): boolean;
  report(line: string): void;
  activity(text: string): void;
  /** Something new is on disk. */
  changed(): void;
}

/** Steps in a row that may train nothing. */
const barrenLimit = 3;
/** Updates between checkpoints of supervised steps, at least: they are short and sample nothing. */
const supervisedEvery = 20;

export async function runLoop(run: OpenRun, control: LoopControl): Promise<"ended" | "paused"> {
  return new Loop(run, control).run();
}

type RlSpan = Extract<StageSpan, { kind: "rl" }>;

class Loop {
  readonly #run: OpenRun;
  readonly #control: LoopControl;
  readonly #clock = new WorkClock();
  /** Aborts what was begun ahead when the loop ends in its middle. */
  readonly #own = new AbortController();
  readonly #signal: AbortSignal;
  /** By the number of their stage. */
  readonly #teachers = new Map<number, { readonly teachers: readonly RolloutRecord[]; readonly rowsOf: TeacherRows }>();
  #spans: readonly StageSpan[] = [];
  /** Groups of the step after the one in hand, in asynchronous collection. */
  #ahead: { readonly step: number; readonly groups: Promise<readonly Collected[]> } | null = null;
  /** End of what was accounted for last. */
  #accounted = Date.now();
  #barren = 0;

  constructor(run: OpenRun, control: LoopControl) {
    this.#run = run;
    this.#control = control;
    this.#signal = AbortSignal.any([control.signal, this.#own.signal]);
  }

  async run(): Promise<"ended" | "paused"> {
    try {
      return await this.#steps();
    } catch (error) {
      this.#own.abort(error);
      throw error;
    } finally {
      // On a pause its rollouts come to their ends: they are found again when the run goes on.
      await this.#ahead?.groups.catch(() => undefined);
    }
  }

  async #steps(): Promise<"ended" | "paused"> {
    const { folder } = this.#run;
    await this.#findTeachers();
    this.#spans = planStages(this.#run.settings.stages, (stage) => this.#teachers.get(stage)?.teachers.length ?? 0);
    const total = stepsOf(this.#spans);
    folder.writeRun({ ...folder.readRun(), steps: total });
    if (!folder.publishedSteps().includes(this.#run.done)) await this.#publish(this.#run.done);
    for (let done = this.#run.done; ; done += 1) {
      if (this.#isEvaluated(done, total)) await this.#evaluate(done);
      if (done === total) return "ended";
      if (this.#control.pauseWanted()) return "paused";
      await this.#takeStep(done + 1, total);
    }
  }

  async #findTeachers(): Promise<void> {
    const { activity, report } = this.#control;
    const signal = this.#signal;
    for (const [number, stage] of this.#run.settings.stages.entries()) {
      if (stage.kind !== "sft") continue;
      const onEnded = (ended: number, of: number): void => activity(`collecting from the teacher, ${ended} of ${of}`);
      const rollouts = await teacherRollouts(this.#run, stage, number, { signal, onEnded });
      report(`teacher  ${rollouts.length} rollout${rollouts.length === 1 ? "" : "s"} to learn from`);
      this.#teachers.set(number, { teachers: rollouts, rowsOf: await teacherRows(this.#run, rollouts) });
    }
    this.#accounted = Date.now();
  }

  async #takeStep(step: number, total: number): Promise<void> {
    const { folder, id } = this.#run;
    const span = spanOf(this.#spans, step);
    if (span === undefined) throw new RangeError(`the run has no step ${step}`);
    const taken = span.kind === "rl" ? await this.#policyStep(step, span) : await this.#supervisedStep(step, span);
    const asked = this.#control.checkpointWanted();
    const checkpoint = asked || this.#isCheckpointed(step, total, span);
    this.#control.activity("publishing");
    await this.#clock.during(async () => {
      if (checkpoint) await this.#run.trainer.save(folder.checkpoint(step), String(step));
    });
    if (checkpoint || span.kind === "rl" || this.#isEvaluated(step, total)) await this.#publish(step);
    const seconds = this.#account();
    const record = stepRecord({ ...taken, step, seconds, checkpoint, policyVersion: `${id}@${step}` });
    folder.writeStep(record, { format: 1, rows: [...tokenRows(taken.batch, taken.measures)] });
    if (asked) folder.writeRun({ ...folder.readRun(), kept: [...folder.readRun().kept, step] });
    this.#prune(step);
    this.#control.report(stepLine(record, total));
    this.#control.changed();
    // Groups that are all equal are no fault: a step without them is only skipped.
    this.#barren = taken.reports.length === 0 && taken.measures === null ? this.#barren + 1 : 0;
    if (this.#barren >= barrenLimit) throw barren(record);
  }

  async #policyStep(step: number, span: RlSpan): Promise<Omit<StepFacts, "step" | "seconds" | "checkpoint" | "policyVersion">> {
    const { stage } = span;
    const algorithm = algorithmOf(stage);
    const signal = this.#signal;
    const collecting = this.#groups(step, span);
    // In the queue behind those of this step: they begin as soon as there is room, so that nothing waits for the last ones.
    if (stage.collection.mode === "one-step-asynchronous" && step + 1 < span.first + span.count) this.#collectAhead(step + 1, span);
    const collected = await collecting;
    const rules = this.#rules(step, stage);
    const planned = stage.tasks * stage.group;
    const { store } = this.#run;
    const batch = buildBatch(judge(collected, rules), ({ id }) => sampledRows(store, id), rules);
    const { members } = batch;
    const rate = learningRate(
      { peak: stage.rate, warmUp: stage.warmUp, shape: stage.schedule, steps: span.count, floor: stage.floor },
      step - span.first,
    );
    const coefficient = this.#divergenceCoefficient(step, algorithm.divergence?.coefficient ?? 0);
    const few = batch.rollouts.length < stage.collection.minimumUsable * planned;
    this.#control.activity(`training on ${batch.rollouts.length} of ${members.length} rollouts`);
    const { temperature } = this.#run.settings;
    const settings = { algorithm, divergenceCoefficient: coefficient, updates: stage.updates, rate, temperature, signal };
    const update: Update = few
      ? {
          reports: [],
          measures: null,
          skipped: `only ${batch.rollouts.length} of ${planned} rollouts can be learnt from`,
          divergenceCoefficient: coefficient,
          memoryBytes: null,
        }
      : await this.#clock.during(() => updatePolicy(this.#run.trainer, batch, settings));
    return {
      ...{ stage: "rl", rate, planned, members, batch, ...update, metrics: metricsOf(update) },
      rollouts: rolloutRows(members, batch, update.measures, algorithm),
    };
  }

  async #supervisedStep(
    step: number,
    span: Extract<StageSpan, { kind: "sft" }>,
  ): Promise<Omit<StepFacts, "step" | "seconds" | "checkpoint" | "policyVersion">> {
    const { stage, count, first } = span;
    const teacher = this.#teachers.get(this.#run.settings.stages.indexOf(stage));
    if (teacher === undefined) throw new RangeError("the stage has no teacher");
    const batch = supervisedBatch(this.#run, { stage, ...teacher, place: step - first });
    const rate = learningRate({ peak: stage.rate, warmUp: stage.warmUp, shape: stage.schedule, steps: count, floor: stage.floor }, step - first);
    this.#control.activity(`learning from the teacher, ${step - first + 1} of ${count}`);
    const update = await this.#clock.during(() => supervisedUpdate(this.#run.trainer, batch, rate, this.#signal));
    return { ...{ stage: "sft", rate, planned: batch.members.length, members: batch.members, batch }, ...update };
  }

  /** Those that were begun ahead, else new ones by the newest weights. */
  async #groups(step: number, span: RlSpan): Promise<readonly Collected[]> {
    const ahead = this.#ahead;
    this.#ahead = null;
    if (ahead !== null && ahead.step === step) return ahead.groups;
    return this.#collect(step, span, step - 1);
  }

  #collectAhead(step: number, span: RlSpan): void {
    // By the weights that are published now; those of the step in hand are not ready.
    const groups = this.#collect(step, span, step - 2);
    // Whoever waits for it is told of what went wrong; until then it is nobody's.
    groups.catch(() => undefined);
    this.#ahead = { step, groups };
  }

  #collect(step: number, { stage, first }: RlSpan, version: number): Promise<readonly Collected[]> {
    const { collector, seed, tasks, settings, id } = this.#run;
    const policy = `training:${id}@${version}`;
    const wish = { ...{ seed, step, stage, policy, place: step - first }, tasks: tasks.train, harnesses: settings.harnesses };
    const onEnded = (ended: number, of: number): void => this.#control.activity(`collecting ${ended} of ${of}`);
    return collectGroups(collector, wish, { signal: this.#signal, onEnded });
  }

  #rules(step: number, { collection }: RlStage): BatchRules {
    const { settings, seed } = this.#run;
    const { stalenessLimit, stale } = collection;
    return {
      ...{ version: step - 1, stalenessLimit, stale, longest: longestSequence(settings), controls: settings.controls },
      seed: deriveSeed(seed, "controls", step),
    };
  }

  #divergenceCoefficient(step: number, first: number): number {
    const before = spanOf(this.#spans, step - 1);
    return before?.kind === "rl" && step > 1 ? this.#run.folder.readStep(step - 1).divergenceCoefficient : first;
  }

  async #evaluate(step: number): Promise<void> {
    const { folder, settings, collector, tasks, seed, store, id } = this.#run;
    if (folder.evaluations().includes(step)) return;
    const { samples, passes, harnesses, temperature } = settings.evaluation;
    const from = Date.now();
    const policy = `training:${id}@${step}${temperature === undefined ? "" : `?temperature=${temperature}`}`;
    const wanted = planEvaluation(tasks.heldOut, harnesses ?? settings.harnesses.map((one) => one.id), { seed, step, samples, policy });
    const onEnded = (ended: number, of: number): void => this.#control.activity(`evaluating ${ended} of ${of}`);
    const collected = await collector.collect(wanted, { signal: this.#signal, onEnded });
    const to = Date.now();
    const facts = { ...{ step, samples, passes }, policyVersion: `${id}@${step}`, seconds: (to - from) / 1000 };
    const record = await evaluationOf(store, collected, facts);
    folder.writeEvaluation({ ...record, seconds: this.#account({ from, to }) });
    folder.writeRun({ ...folder.readRun(), best: this.#bestStep() });
    this.#control.report(evaluationLine(record.view));
    this.#control.changed();
  }

  #bestStep(): number | null {
    const { folder } = this.#run;
    const views = folder.evaluations().map((step) => folder.readEvaluation(step).view);
    const best = views.toSorted((left, right) => (right.success.mean ?? -1) - (left.success.mean ?? -1))[0];
    return best?.step ?? null;
  }

  #isEvaluated(step: number, total: number): boolean {
    const { evaluation } = this.#run.settings;
    if (this.#run.tasks.heldOut.length === 0) return false;
    if (step === 0) return evaluation.before;
    if (step === total) return evaluation.after;
    return evaluation.every !== undefined && step % evaluation.every === 0;
  }

  #isCheckpointed(step: number, total: number, { kind, first, count }: StageSpan): boolean {
    const { every } = this.#run.settings.checkpoints;
    const between = kind === "sft" ? Math.max(every, supervisedEvery) : every;
    return step % between === 0 || step === total || step === first + count - 1 || this.#isEvaluated(step, total) || this.#control.pauseWanted();
  }

  async #publish(step: number): Promise<void> {
    await this.#clock.during(() => this.#run.trainer.publish(this.#run.folder.published(step)));
  }

  /** Wall time since the last account, by what was busy in it. */
  #account(evaluation?: Span): SecondsView {
    const { store, collector } = this.#run;
    const window = { from: this.#accounted, to: Date.now() };
    const ran = collector.ranSince(window.from).flatMap((id) => store.rollout(id) ?? []);
    const spans = ran.map((rollout) => rolloutSpans(store, rollout));
    const seconds = busySeconds(window, {
      sampling: spans.flatMap(({ sampling }) => sampling),
      sandbox: spans.flatMap(({ sandbox }) => sandbox),
      training: this.#clock.spans,
      evaluation: evaluation === undefined ? [] : [evaluation],
    });
    this.#accounted = window.to;
    this.#clock.forgetBefore(window.to);
    return seconds;
  }

  /** Weights that somebody may still sample from, or go back to, stay. */
  #prune(step: number): void {
    const { folder, settings } = this.#run;
    const { kept } = folder.readRun();
    const evaluated = new Set(folder.evaluations());
    const newest = new Set(folder.checkpoints().slice(-settings.checkpoints.keep));
    folder.prune("checkpoints", (one) => newest.has(one) || kept.includes(one));
    folder.prune("published", (one) => one === 0 || one > step - 3 || newest.has(one) || kept.includes(one) || evaluated.has(one));
  }
}

function barren({ skipped, point }: StepRecord): WorkbenchError {
  const reasons = Object.entries(point.left).toSorted(([, left], [, right]) => right - left);
  const told = reasons.map(([reason, count]) => `${count} × ${reason}`).join(", ");
  return new WorkbenchError(
    "unavailable",
    `${barrenLimit} steps in a row trained nothing: ${skipped ?? ""}${told === "" ? "" : ` (${told})`}.`,
    "Look at the rollouts of these steps: the reasons why they were left out stand beside them.",
  );
}
