/** An Inspect log (`.eval`, a zip archive) as a recording: a rollout for each sample and epoch. */
import { basename } from "node:path";
import { openZip, type ZipFile } from "../../archives/index.ts";
import type { ForeignExperiment, ForeignRollout } from "../contract.ts";
import { type ForeignFailure, gradedOutcome, scalarReward } from "../graded-outcome.ts";
import { brokenFile, parseFile } from "../import-fault.ts";
import { moment } from "../moment.ts";
import { headerSchema, type InspectHeader, type InspectSample, type ScoreValue, sampleSchema } from "./log-form.ts";
import { sampleCalls } from "./sample-calls.ts";

export async function readInspectLog(path: string): Promise<ForeignExperiment> {
  const zip = await openZip(path);
  try {
    const header = await headerOf(zip, path);
    const names = zip.names.filter((name) => /^samples\/.+\.json$/.test(name)).toSorted();
    if (names.length === 0) throw brokenFile(path, "it is a log without a sample");
    const notes: string[] = [];
    const { eval: evaluation, stats } = header;
    return {
      kind: "Inspect log",
      name: `${evaluation.task}, ${evaluation.model}`,
      identity: `inspect ${evaluation.eval_id ?? ""} ${evaluation.run_id ?? ""} ${evaluation.created} ${evaluation.task} ${evaluation.model}`,
      createdAt: moment(stats?.started_at) ?? moment(evaluation.created) ?? 0,
      endedAt: moment(stats?.completed_at),
      rollouts: rolloutsOf(zip, names, header, path, notes),
      notes,
    };
  } catch (error) {
    await zip.close();
    throw error;
  }
}

/** A log that was cut off has no header yet, only how it began. */
async function headerOf(zip: ZipFile, path: string): Promise<InspectHeader> {
  const whole = zip.names.includes("header.json");
  const name = whole ? "header.json" : "_journal/start.json";
  if (!zip.names.includes(name)) throw brokenFile(path, "it is a zip archive but no Inspect log: header.json is missing");
  const text = (await zip.read(name)).toString("utf8");
  return parseFile(headerSchema, whole ? text : text.replace(/^\s*\{/, '{"status":"started",'), `${basename(path)}, ${name}`);
}

async function* rolloutsOf(
  zip: ZipFile,
  names: readonly string[],
  header: InspectHeader,
  path: string,
  notes: string[],
): AsyncGenerator<ForeignRollout> {
  try {
    for (const name of names) {
      const text = (await zip.read(name)).toString("utf8");
      const sample = parseFile(sampleSchema, withAttachments(text), `${basename(path)}, ${name}`);
      yield rolloutOf(sample, header, notes);
    }
  } finally {
    await zip.close();
  }
}

function rolloutOf(sample: InspectSample, { eval: evaluation, plan }: InspectHeader, notes: string[]): ForeignRollout {
  const rewards = rewardsOf(sample);
  const reward = scalarReward(rewards);
  if (rewards !== null && reward === null)
    notes.push(`Samples have the scores ${Object.keys(rewards).join(", ")} and none is called reward: they have no scalar.`);
  const calls = sampleCalls(sample, evaluation.model);
  return {
    taskName: `${evaluation.task}/${sample.id}`,
    taskPath: "",
    taskDigest: null,
    harness: `inspect: ${evaluation.solver ?? (plan?.steps.map(({ solver }) => solver).join(" > ") || "solver")}`,
    harnessVersion: String(evaluation.task_version ?? "–"),
    policy: evaluation.model,
    sandbox: evaluation.sandbox?.type === "k8s" ? "kubernetes" : evaluation.sandbox?.type === "local" ? "local" : "docker",
    phases: [],
    reward,
    rewards,
    outcome: gradedOutcome(reward, rewards, failureOf(sample)),
    startedAt: moment(sample.started_at),
    endedAt: moment(sample.completed_at),
    promptTokens: calls.reduce((sum, call) => sum + call.promptTokens, 0),
    completionTokens: calls.reduce((sum, call) => sum + call.completionTokens, 0),
    calls,
    files: [],
  };
}

function failureOf({ error, limit }: InspectSample): ForeignFailure | null {
  if (error != null) return { status: "harness-failure", cause: "harness-exit", detail: error.message.split("\n", 1)[0] ?? "" };
  // The other limits (messages, tokens, cost) are budgets too.
  return limit == null ? null : { status: "agent-timeout", cause: null, detail: `The sample reached its limit of ${limit.type}.` };
}

const letters: Readonly<Record<string, number>> = { C: 1, I: 0, P: 0.5, N: 0 };

/** Every score that is a number, by scorer; a table of scores gives one for each of its names. */
function rewardsOf({ scores }: InspectSample): Readonly<Record<string, number>> | null {
  const rewards: Record<string, number> = {};
  const add = (name: string, value: ScoreValue): void => {
    const number =
      typeof value === "boolean"
        ? Number(value)
        : typeof value === "string"
          ? (letters[value] ?? (value.trim() === "" ? Number.NaN : Number(value)))
          : value;
    if (typeof number === "number" && Number.isFinite(number)) rewards[name] = number;
    else if (typeof value === "object" && value !== null && !Array.isArray(value))
      for (const [key, inner] of Object.entries(value)) add(`${name}.${key}`, inner);
  };
  for (const [name, { value }] of Object.entries(scores ?? {})) add(name, value);
  return Object.keys(rewards).length === 0 ? null : rewards;
}

/** Long texts stand once, under `attachments`, and are referred to as `attachment://NAME`: put back where they belong. */
function withAttachments(text: string): string {
  if (!text.includes("attachment://")) return text;
  const sample: unknown = JSON.parse(text);
  const attachments = typeof sample === "object" && sample !== null && "attachments" in sample ? sample.attachments : null;
  const known = new Map(Object.entries(attachments ?? {}));
  return JSON.stringify(sample, (_key, value: unknown) => {
    if (typeof value !== "string" || !value.startsWith("attachment://")) return value;
    return known.get(value.slice("attachment://".length)) ?? value;
  });
}
