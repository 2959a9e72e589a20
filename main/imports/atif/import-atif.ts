/** ATIF documents as recordings: what we put under `extra.openforge` when we exported them comes back. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { z } from "zod";
import { outcomeCauses, outcomeStatuses } from "../../../engine/outcome/index.ts";
import { WorkbenchError } from "../../errors.ts";
import type { ForeignExperiment, ForeignRollout } from "../contract.ts";
import { gradedOutcome } from "../graded-outcome.ts";
import { moment } from "../moment.ts";
import { type AtifTrajectory, readTrajectory } from "./read-trajectory.ts";
import { trajectoryCalls } from "./trajectory-calls.ts";

const ours = z
  .object({
    task: z.string(),
    task_digest: z.string(),
    reward: z.number().nullable(),
    rewards: z.record(z.string(), z.number()).nullable(),
    outcome: z
      .object({
        status: z.enum(outcomeStatuses),
        cause: z.enum(outcomeCauses).nullable(),
        action: z.enum(["train", "mask", "discard"]),
        detail: z.string().nullable(),
      })
      .nullable(),
    sandbox: z.enum(["local", "docker", "kubernetes"]),
  })
  .partial();

/** Why a document would be refused, in a sentence; null when it is good. */
export async function trajectoryFault(path: string): Promise<string | null> {
  try {
    await readAtif([path], "");
    return null;
  } catch (error) {
    if (error instanceof WorkbenchError) return error.message;
    throw error;
  }
}

/** `paths`: one document or several; each becomes a rollout. */
export async function readAtif(paths: readonly string[], name: string): Promise<ForeignExperiment> {
  const documents = await Promise.all(paths.map(async (path) => ({ path, text: await readFile(path, "utf8") })));

  const digest = createHash("sha256");
  for (const { text } of documents) digest.update(createHash("sha256").update(text).digest());
  const rollouts = documents.map(({ path, text }) => rolloutOf(readTrajectory(text, path), path, text));
  const times = rollouts.flatMap(({ startedAt, endedAt }) => [startedAt, endedAt]).filter((time) => time !== null);
  return {
    kind: "ATIF trajectory",
    name,
    identity: digest.digest("hex"),
    createdAt: times.length === 0 ? 0 : Math.min(...times),
    endedAt: times.length === 0 ? null : Math.max(...times),
    rollouts: inTurn(rollouts),
    notes: rollouts.some(({ reward }) => reward === null) ? ["ATIF has no place for a reward: what none was found for has none."] : [],
  };
}

function rolloutOf(trajectory: AtifTrajectory, path: string, text: string): ForeignRollout {
  const own = ours.safeParse(trajectory.extra?.openforge);
  const known = own.success ? own.data : {};
  const times = trajectory.steps.flatMap(({ timestamp }) => moment(timestamp) ?? []);
  const calls = trajectoryCalls(trajectory, path, times[0] ?? 0);
  const reward = known.reward ?? null;
  return {
    taskName: known.task ?? basename(path).replace(/\.json$/, ""),
    taskPath: "",
    taskDigest: known.task_digest ?? null,
    harness: trajectory.agent.name,
    harnessVersion: trajectory.agent.version,
    policy: trajectory.agent.model_name ?? "unknown",
    sandbox: known.sandbox ?? "docker",
    phases: [],
    reward,
    rewards: known.rewards ?? null,
    outcome: known.outcome ?? gradedOutcome(reward, known.rewards ?? null, null),
    startedAt: times.length === 0 ? null : Math.min(...times),
    endedAt: times.length === 0 ? null : Math.max(...times),
    promptTokens: calls.reduce((sum, call) => sum + call.promptTokens, 0),
    completionTokens: calls.reduce((sum, call) => sum + call.completionTokens, 0),
    calls,
    // Steps that no model call stands for are only here.
    files: [{ kind: "artifact", name: "trajectory.json", bytes: new TextEncoder().encode(text) }],
  };
}

async function* inTurn<T>(values: readonly T[]): AsyncGenerator<T> {
  yield* values;
}
