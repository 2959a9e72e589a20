/**
 * One grading. The order is the defence: every process of the agent is ended, the places that the verifier writes to and starts from
 * are made fresh, the tests are uploaded anew, the script runs in an environment that the agent could not prepare, whatever it left
 * running is ended, and only then are the reward files read.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { OutcomeCause } from "../../engine/outcome/index.ts";
import type { Sandbox } from "../sandboxes/index.ts";
import { resolveVariables, sharedVerifierNetwork, type Task } from "../tasks/index.ts";
import { brokenGraderSign } from "./broken-grader.ts";
import type { VerifierOptions, VerifierResult } from "./contract.ts";
import { graderEnvironment } from "./grader-environment.ts";
import { prepareGround, readGround } from "./ground.ts";
import { readRewards } from "./reward-files.ts";
import { type Graded, inVerifierBox } from "./separate-box.ts";
import { packageEntries } from "./stage-tests.ts";

/** Of each output stream; the rest is counted and dropped. */
const outputLimitBytes = 4_000_000;
const outputFile = "test-stdout.txt";
/** What the verifier may leave in /logs/verifier and have kept. */
const keptLimit = { bytes: 64 * 1024 ** 2, entries: 2000 };

/**
 * Grades the work in `sandbox`. A reward that is not given is a result with its cause; only a lost sandbox, an abort and a variable
 * that is not set throw.
 */
export async function runVerifier(sandbox: Sandbox, task: Task, options: VerifierOptions): Promise<VerifierResult> {
  const startedAt = Date.now();
  await mkdir(options.outputFolder, { recursive: true });
  await writeFile(join(options.outputFolder, outputFile), "");
  await sandbox.killAll();
  const { box } = task.verifier;
  if (box === null) await sandbox.useNetwork(sharedVerifierNetwork(task));
  const graded = box === null ? await grade(sandbox, task, options, true) : await inVerifierBox(sandbox, task, box, options, grade);
  return { ...graded, seconds: (Date.now() - startedAt) / 1000 };
}

function failure(cause: OutcomeCause, detail: string, exitCode: number | null = null): Graded {
  return { status: "verifier-failure", cause, reward: null, rewards: null, detail, exitCode };
}

/** `testsFromHere`: the tests are uploaded; else the image of the box holds them. */
async function grade(sandbox: Sandbox, task: Task, options: VerifierOptions, testsFromHere: boolean): Promise<Graded> {
  const { workdir } = sandbox;
  const mode = task.verifier.user === null || task.verifier.user === task.agent.user ? 0o755 : 0o777;
  const ground = { testsFromHere, workdir, mode, ...(options.signal === undefined ? {} : { signal: options.signal }) };
  const preparing = await prepareGround(sandbox, ground);
  if (!preparing.ok) return failure(preparing.cause, `The places of the verifier could not be made clean: ${preparing.why}.`);
  const prepared = preparing.answer;
  if (prepared.replaced.length > 0) {
    return failure("reward-forged", `System programs that the verifier relies on were changed: ${prepared.replaced.slice(0, 5).join(", ")}.`);
  }
  if (testsFromHere) for (const folder of task.testFolders) await sandbox.uploadEntries(await packageEntries(task.path, folder), "/tests");

  const output = new MergedOutput();
  const taskEnv = resolveVariables(task.verifier.box?.env ?? task.environment.env, options.environment);
  const inAgentsFolder = task.verifier.cwd === "workdir" && !task.verifier.cwdDeclared;
  const { prefix, env } = graderEnvironment(
    { ...prepared, workdir, inAgentsFolder },
    taskEnv,
    resolveVariables(task.verifier.env, options.environment),
  );
  const end = await sandbox.exec(
    {
      command: [...prefix, "/bin/sh", "-c", 'exec "$0"', "/tests/test.sh"],
      env,
      cwd: task.verifier.cwd === "tests" ? "/tests" : workdir,
      ...(task.verifier.user === null ? {} : { user: task.verifier.user }),
      timeoutMs: task.verifier.timeoutMs,
      outputLimitBytes,
      onOutput: output.add,
    },
    options.signal,
  );
  await sandbox.killAll();
  const reading = await readGround(sandbox, options.signal);
  await keepOutput(sandbox, options.outputFolder, output, end.droppedBytes, reading.ok ? reading.answer : null);

  if (end.timedOut) return failure("verifier-timeout", `The verifier did not end within ${task.verifier.timeoutMs / 1000} seconds.`);
  if (!reading.ok) return failure(reading.cause, `The reward files cannot be read: ${reading.why}.`, end.exitCode);
  const rewards = readRewards(reading.answer.json, reading.answer.text, task.rewardKey);
  if (rewards.ok && rewards.reward >= task.maxReward) {
    return { status: "succeeded", cause: null, reward: rewards.reward, rewards: rewards.rewards, detail: null, exitCode: end.exitCode };
  }
  const sign = brokenGraderSign({ exitCode: end.exitCode, stderr: decode(end.stderr), stdout: decode(end.stdout) });
  if (sign !== null) return failure("verifier-broken", `The verifier itself broke: ${sign}. See ${outputFile}.`, end.exitCode);
  if (!rewards.ok && end.outOfMemory) return failure("out-of-memory", "The verifier ran out of memory.", end.exitCode);
  if (!rewards.ok && rewards.noScalar && options.ofStep === true)
    return { status: "failed", cause: null, reward: null, rewards: rewards.rewards, detail: null, exitCode: end.exitCode };
  if (!rewards.ok) return { ...failure(rewards.cause, rewards.detail, end.exitCode), rewards: rewards.rewards };
  return { status: "failed", cause: null, reward: rewards.reward, rewards: rewards.rewards, detail: null, exitCode: end.exitCode };
}

const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

/** Both output streams in the order in which they arrived. */
class MergedOutput {
  readonly #chunks: Uint8Array[] = [];
  readonly add = (_stream: "stdout" | "stderr", chunk: Uint8Array): void => {
    this.#chunks.push(Uint8Array.from(chunk));
  };
  bytes(): Uint8Array {
    return Buffer.concat(this.#chunks);
  }
}

async function keepOutput(
  sandbox: Sandbox,
  folder: string,
  output: MergedOutput,
  dropped: number,
  left: { readonly bytes: number; readonly entries: number } | null,
): Promise<void> {
  const notes: string[] = [];
  if (dropped > 0) notes.push(`[${dropped} bytes of output were dropped]`);
  if (left !== null && left.bytes <= keptLimit.bytes && left.entries <= keptLimit.entries) await sandbox.download("/logs/verifier", folder);
  else if (left !== null) notes.push(`[/logs/verifier holds ${left.entries} entries, ${left.bytes} bytes: more than is kept]`);
  const text = notes.length === 0 ? "" : `\n${notes.join("\n")}\n`;
  await writeFile(join(folder, outputFile), Buffer.concat([output.bytes(), Buffer.from(text)]));
}
