/** An experiment as the form holds it: texts while they are typed, checked by the service's own schema. Pure. */
import { type ExperimentSpecInput, experimentSpecSchema } from "../../../../main/api/experiment-views.ts";

export interface Plan {
  readonly name: string;
  readonly tasks: ReadonlySet<string>;
  readonly harnesses: ReadonlySet<string>;
  readonly policies: ReadonlySet<string>;
  readonly k: string;
  readonly sandbox: "local" | "docker";
  readonly concurrency: string;
  readonly seed: string;
  readonly keepWorkspace: boolean;
}

type PlanField = "name" | "tasks" | "harnesses" | "policies" | "k" | "concurrency" | "seed";

/** Works on a bare machine: the starter tasks, the reference harness, the scripted policy, the local sandbox. */
export const startingPlan: Plan = {
  name: "",
  tasks: new Set(["starter"]),
  harnesses: new Set(["react"]),
  policies: new Set(["scripted"]),
  k: "1",
  sandbox: "local",
  concurrency: "2",
  seed: "0",
  keepWorkspace: false,
};

const sentences: Record<PlanField, string> = {
  name: "A name has at least one character.",
  tasks: "Choose at least one task.",
  harnesses: "Choose at least one harness.",
  policies: "Choose at least one policy.",
  k: "k is a whole number from 1, for example 8.",
  concurrency: "At once is a whole number from 1 to 256, for example 4.",
  seed: "A seed is a whole number from 0, for example 7.",
};

const isPlanField = (name: unknown): name is PlanField => typeof name === "string" && Object.hasOwn(sentences, name);
const wholeNumber = (text: string): number => (/^\s*\d+\s*$/.test(text) ? Number(text) : Number.NaN);

export type CheckedPlan =
  | { readonly spec: ExperimentSpecInput; readonly errors: null }
  | { readonly spec: null; readonly errors: Partial<Record<PlanField, string>> };

/** The specification to start, or what is wrong with each field. */
export function checkPlan(plan: Plan): CheckedPlan {
  const spec: ExperimentSpecInput = {
    ...(plan.name.trim() === "" ? {} : { name: plan.name.trim() }),
    tasks: [...plan.tasks],
    harnesses: [...plan.harnesses],
    policies: [...plan.policies],
    k: wholeNumber(plan.k),
    sandbox: plan.sandbox,
    concurrency: wholeNumber(plan.concurrency),
    seed: wholeNumber(plan.seed),
    keepWorkspace: plan.keepWorkspace,
  };
  const checked = experimentSpecSchema.safeParse(spec);
  if (checked.success) return { spec, errors: null };
  const errors: Partial<Record<PlanField, string>> = {};
  for (const { path } of checked.error.issues) if (isPlanField(path[0])) errors[path[0]] = sentences[path[0]];
  return { spec: null, errors };
}

/** How many rollouts a plan makes; null while a number is wrong. `starter` stands for all tasks that ship. */
export function plannedRollouts(plan: Plan, starterTasks: number): number | null {
  const k = wholeNumber(plan.k);
  const tasks = [...plan.tasks].reduce((sum, task) => sum + (task === "starter" ? starterTasks : 1), 0);
  const n = tasks * plan.harnesses.size * plan.policies.size * k;
  return Number.isFinite(n) ? n : null;
}
