/** What a run file will do, in sentences, before anything is started. */
import { createAdapter } from "../../engine/models/index.ts";
import { openModelFolder } from "../models/index.ts";
import { planMemory } from "./embedded/trainee.ts";
import { longestSequence } from "./open-run.ts";
import type { RunSettings, TaskSource } from "./run-file.ts";
import { algorithmName } from "./run-view.ts";

export function summaryOf(settings: RunSettings): readonly string[] {
  const { train, base, harnesses, sandbox, tasks, evaluation, deterministic, controls } = settings;
  const what = train === "weights" ? "all weights" : `an adapter of rank ${train.rank}`;
  const spoiled = Object.keys(controls);
  return [
    `Trains ${what} of ${base} by ${algorithmName(settings)}, in ${harnesses.map(({ id }) => id).join(", ")}, in the ${sandbox} sandbox.`,
    `Tasks: ${inWords(tasks.train)}; held out: ${tasks.heldOut === undefined ? "none, so nothing is evaluated" : inWords(tasks.heldOut)}.`,
    ...settings.stages.map(stageInWords),
    ...(tasks.heldOut === undefined ? [] : [evaluationInWords(evaluation)]),
    ...(deterministic ? ["Repeats to the bit on this machine."] : []),
    ...(spoiled.length > 0 ? [`A controlled study: ${spoiled.join(", ")}. Its result says nothing about the policy.`] : []),
  ];
}

/** Rejects with WorkbenchError for a folder that holds no model, and when the training does not fit into its memory. */
export async function memorySentence(settings: RunSettings, modelFolder: string): Promise<string> {
  const folder = await openModelFolder(modelFolder);
  try {
    const { description } = folder;
    const { limits, train, seed } = settings;
    const adapter = train === "weights" ? null : createAdapter(description, train, seed);
    const size = { limits: { positions: limits.batchTokens, longest: longestSequence(settings) }, memoryBudget: limits.memoryBytes };
    const { estimate, words } = planMemory(description, adapter, size);
    const megabytes = (count: number): number => Math.ceil(count / (1 << 20));
    return `Training takes about ${megabytes(estimate.total)} MB, with batches of several sizes up to ${megabytes(limits.memoryBytes)} MB: ${words}.`;
  } finally {
    folder.close();
  }
}

function inWords(sources: readonly TaskSource[]): string {
  return sources.map((source) => (typeof source === "string" ? source : `${source.starter.count} generated starter tasks`)).join(", ");
}

function evaluationInWords({ samples, every, before, after }: RunSettings["evaluation"]): string {
  const step = every === 1 ? "step" : "steps";
  const times = [before ? ["before"] : [], every === undefined ? [] : [`every ${every} ${step}`], after ? ["after"] : []].flat();
  return `Evaluation: ${samples} rollout${samples === 1 ? "" : "s"} a task and harness, ${times.join(times.length === 2 ? " and " : ", ") || "never"}.`;
}

function stageInWords(stage: RunSettings["stages"][number]): string {
  if (stage.kind === "sft") {
    const { policy, perTask, experiments } = stage.teacher;
    const teacher = policy === undefined ? `the experiments ${(experiments ?? []).join(", ")}` : `${policy}, ${perTask} rollouts a task`;
    return `Learns from ${teacher}, keeping ${stage.keep}.`;
  }
  const { steps, tasks, group, updates } = stage;
  return `${steps} steps of ${tasks} groups of ${group}: ${steps * tasks * group} rollouts, ${steps * updates} updates.`;
}
