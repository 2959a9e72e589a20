/** A run as it leaves the service, read from its folder; what was read once is kept, for written steps never change. */
import type { SecondsView, TrainingResult, TrainingRunView } from "../api/training-views.ts";
import { addSeconds, noSeconds } from "./busy-time.ts";
import { gainOf } from "./evaluate.ts";
import type { EvaluationRecord, RunRecord, StepRecord } from "./records.ts";
import { type RunSettings, readRunFile } from "./run-file.ts";
import type { RunFolder } from "./run-folder.ts";

export class RunHistory {
  readonly #folder: RunFolder;
  readonly #steps = new Map<number, StepRecord>();
  readonly #evaluations = new Map<number, EvaluationRecord>();

  constructor(folder: RunFolder) {
    this.#folder = folder;
  }

  /** Ascending. */
  get steps(): readonly StepRecord[] {
    return this.#folder.steps().map((step) => this.step(step));
  }

  step(step: number): StepRecord {
    return kept(this.#steps, step, () => this.#folder.readStep(step));
  }

  get evaluations(): readonly EvaluationRecord[] {
    return this.#folder.evaluations().map((step) => kept(this.#evaluations, step, () => this.#folder.readEvaluation(step)));
  }

  /** Steps after this one are taken again. */
  forget(): void {
    this.#steps.clear();
    this.#evaluations.clear();
  }
}

function kept<T>(known: Map<number, T>, step: number, read: () => T): T {
  const found = known.get(step) ?? read();
  known.set(step, found);
  return found;
}

/** `whole`: with points and evaluations. */
export function runView(
  record: RunRecord,
  history: RunHistory,
  { activity, whole }: { readonly activity: string; readonly whole: boolean },
): TrainingRunView {
  const { steps, evaluations } = history;
  const points = steps.map(({ point }) => point);
  const [first, last] = [evaluations[0], evaluations.at(-1)];
  const settings = settingsOf(record);
  const { id, name, configuration, seed, createdAt, endedAt, status, problem, file, backend, memory } = record;
  return {
    ...{ id, name, configuration, seed, createdAt, endedAt, status, problem, activity, file, backend, memory },
    algorithm: settings === null ? "" : algorithmName(settings),
    base: record.base,
    harnesses: settings === null ? [] : settings.harnesses.map((harness) => harness.id),
    step: points.at(-1)?.step ?? 0,
    steps: record.steps,
    secondsPerStep: points.length === 0 ? null : points.reduce((sum, { seconds }) => sum + seconds.total, 0) / points.length,
    experiment: record.experiments.at(-1) ?? null,
    points: whole ? points : [],
    evaluations: whole ? evaluations.map(({ view }) => view) : [],
    gain: first === undefined || last === undefined || first === last ? null : gainOf(first, last),
    seconds: secondsOf(steps, evaluations),
  };
}

function settingsOf({ file, folder }: RunRecord): RunSettings | null {
  const reading = readRunFile(file, folder);
  return reading.ok ? reading.settings : null;
}

/** `sft, grpo` */
export function algorithmName({ stages }: RunSettings): string {
  const names = stages.map((stage) => (stage.kind === "sft" ? "sft" : stage.algorithm));
  return names.join(", ");
}

function secondsOf(steps: readonly StepRecord[], evaluations: readonly EvaluationRecord[]): SecondsView {
  return [...steps.map(({ point }) => point.seconds), ...evaluations.map(({ seconds }) => seconds)].reduce(addSeconds, noSeconds);
}

export function trainingResult(view: TrainingRunView): TrainingResult {
  const [before, after] = [view.evaluations[0], view.evaluations.length > 1 ? view.evaluations.at(-1) : undefined];
  const shared = <T>(left: Readonly<Record<string, T>>, right: Readonly<Record<string, T>>) =>
    Object.entries(left).flatMap(([name, value]) => (right[name] === undefined ? [] : [{ name, before: value, after: right[name] }]));
  const families = before === undefined || after === undefined ? [] : shared(before.families, after.families);
  const behaviour = before === undefined || after === undefined ? [] : shared(before.behaviour, after.behaviour);
  return {
    ...{ run: view.id, seed: view.seed, steps: view.step, gain: view.gain, seconds: view.seconds },
    before: before?.success ?? null,
    after: after?.success ?? null,
    families: families.map(({ name, ...estimates }) => ({ family: name, ...estimates })),
    behaviour: Object.fromEntries(behaviour.map(({ name, ...estimates }) => [name, estimates])),
  };
}
